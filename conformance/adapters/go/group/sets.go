package group

import "sort"

// Set is a small set: a list without a repetition, whose order means nothing. No operation changes it.
type Set[T comparable] []T

// SetOf makes a set of a list that may name an element twice.
func SetOf[T comparable](list ...T) Set[T] {
	var set Set[T]
	for _, x := range list {
		set = set.With(x)
	}
	return set
}

// IsSet marks for package wire that the order means nothing.
func (s Set[T]) IsSet() {}

func (s Set[T]) Has(x T) bool { return Index(s, x) >= 0 }

func (s Set[T]) With(x T) Set[T] {
	if s.Has(x) {
		return s
	}
	return Appended(s, x)
}

func (s Set[T]) Where(keep func(T) bool) Set[T] {
	var out Set[T]
	for _, x := range s {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func (s Set[T]) Without(x T) Set[T]    { return s.Where(func(y T) bool { return y != x }) }
func (s Set[T]) Minus(t Set[T]) Set[T] { return s.Where(func(x T) bool { return !t.Has(x) }) }
func (s Set[T]) And(t Set[T]) Set[T]   { return s.Where(t.Has) }
func (s Set[T]) Within(t Set[T]) bool  { return len(s.Minus(t)) == 0 }
func (s Set[T]) Equal(t Set[T]) bool   { return len(s) == len(t) && s.Within(t) }
func (s Set[T]) Or(t Set[T]) Set[T]    { return Join(s, t.Minus(s)) }

// Sorted has a set of addresses in their order, which is that of their bytes.
func Sorted(set Set[string]) []string {
	list := Join([]string(set))
	sort.Strings(list)
	return list
}

// Keys is the domain of a function.
func Keys[V any](function map[string]V) Set[string] {
	var keys Set[string]
	for k := range function {
		keys = append(keys, k)
	}
	return keys
}

// Is says whether these are the keys of function: DOMAIN function = set.
func Is[V any](function map[string]V, set Set[string]) bool {
	return len(function) == len(set) && AreIn(set, function)
}

// AreIn says whether function has them all among its keys.
func AreIn[V any](set Set[string], function map[string]V) bool {
	for _, m := range set {
		if !In(m, function) {
			return false
		}
	}
	return true
}

func In[V any](m string, function map[string]V) bool {
	_, ok := function[m]
	return ok
}

// Map is [m \in set |-> value(m)].
func Map[V any](set Set[string], value func(m string) V) map[string]V {
	out := make(map[string]V, len(set))
	for _, m := range set {
		out[m] = value(m)
	}
	return out
}

// Noted is the function with another value of a key.
func Noted[K comparable, V any](function map[K]V, key K, value V) map[K]V {
	out := make(map[K]V, len(function)+1)
	for k, v := range function {
		out[k] = v
	}
	out[key] = value
	return out
}

// Less is the function without one key.
func Less[V any](function map[string]V, key string) map[string]V {
	out := make(map[string]V, len(function))
	for k, v := range function {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// Select has the items of a list that are to be kept, in a list of its own.
func Select[T any, L ~[]T](list L, keep func(T) bool) L {
	out := L{}
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// Appended is a list of its own: what is appended to the old one later is not in it.
func Appended[T any, L ~[]T](list L, x T) L {
	return append(append(make(L, 0, len(list)+1), list...), x)
}

// Index is the place of x in a list, or -1.
func Index[T comparable, L ~[]T](list L, x T) int {
	for i, y := range list {
		if x == y {
			return i
		}
	}
	return -1
}

// Any says whether some item of a list is so.
func Any[T any, L ~[]T](list L, is func(T) bool) bool {
	for _, x := range list {
		if is(x) {
			return true
		}
	}
	return false
}

// Same says whether two lists are equal.
func Same[T comparable](list, other []T) bool {
	for i, x := range list {
		if i >= len(other) || x != other[i] {
			return false
		}
	}
	return len(list) == len(other)
}

// SameMap says whether two functions are equal.
func SameMap[V comparable](f, g map[string]V) bool {
	for k, v := range f {
		if w, ok := g[k]; !ok || v != w {
			return false
		}
	}
	return len(f) == len(g)
}

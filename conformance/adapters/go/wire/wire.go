// Package wire reads and writes the plain JSON that an adapter gets and gives (docs/porting.md).
//
// A record is a struct: its fields in snake case (ViewId is view_id), or as a tag `wire:"..."` says. None may lack, and
// none more may come. A struct with a blank field of type Tag has a "type", which is the tag of that field. A field of an
// interface type holds one of the structs that were registered for it by Union, or nil, which is null. A slice is a
// sequence, a type with a method IsSet a set, a map a function: an object where its keys are strings, pairs where they are
// integers. Integers are int64.
package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Tag marks a struct that has a "type": _ wire.Tag `wire:"STABLE"`.
type Tag struct{}

// Tuple marks a struct that is an array of its fields: _ wire.Tuple.
type Tuple struct{}

// Payload is any JSON but null, which no code looks into.
type Payload []byte

// The greatest integer that is written as a number; greater ones are strings of digits.
const plain = 1<<53 - 1

// Decode reads all of data into *into.
func Decode(data []byte, into any) (err error) {
	defer rescue(&err)
	v := reflect.ValueOf(into).Elem()
	r := &reader{data: data}
	codecOf(v.Type()).read(r, v)
	r.end()
	return nil
}

// Append writes value behind dst. (Of a value in an interface: as what it is.)
func Append(dst []byte, value any) []byte {
	v := reflect.ValueOf(value)
	return codecOf(v.Type()).write(dst, v)
}

// Members calls visit for each member of a JSON object; the raw value is a part of data.
func Members(data []byte, visit func(key string, raw []byte) error) (err error) {
	defer rescue(&err)
	r := &reader{data: data}
	r.object(func(key string) {
		if err := visit(key, r.raw()); err != nil {
			r.fail("%s: %v", key, err)
		}
	})
	r.end()
	return nil
}

var unions sync.Map // interface type -> map[string]reflect.Type

// Union says which structs a value of the interface I may be.
func Union[I any](members ...I) {
	byTag := map[string]reflect.Type{}
	for _, m := range members {
		t := reflect.TypeOf(m)
		tag, _ := tagOf(t)
		byTag[tag] = t
	}
	unions.Store(typeFor[I](), byTag)
}

type codec struct {
	read  func(*reader, reflect.Value)
	write func([]byte, reflect.Value) []byte
}

var codecs sync.Map // reflect.Type -> *codec

func codecOf(t reflect.Type) *codec {
	if known, ok := codecs.Load(t); ok {
		return known.(*codec)
	}
	made := makeCodec(t)
	codecs.Store(t, &made)
	return &made
}

func makeCodec(t reflect.Type) codec {
	switch {
	case t == typeFor[Payload]():
		return codec{
			func(r *reader, v reflect.Value) {
				raw := r.raw()
				if raw[0] == 'n' || !json.Valid(raw) {
					r.fail("no payload: %s", raw)
				}
				v.SetBytes(append([]byte{}, raw...))
			},
			func(b []byte, v reflect.Value) []byte { return append(b, v.Bytes()...) },
		}
	case t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Type == typeFor[Tuple]():
		return tupleCodec(t)
	case t.Kind() == reflect.Struct:
		return structCodec(t)
	case t.Kind() == reflect.Interface:
		return unionCodec(t)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.Int64:
		return pairsCodec(t)
	case t.Kind() == reflect.Map:
		return mapCodec(t)
	case t.Kind() == reflect.Slice:
		return sliceCodec(t)
	case t.Kind() == reflect.String:
		return codec{
			func(r *reader, v reflect.Value) { v.SetString(r.text()) },
			func(b []byte, v reflect.Value) []byte { return appendText(b, v.String()) },
		}
	case t.Kind() == reflect.Int64:
		return codec{
			func(r *reader, v reflect.Value) { v.SetInt(r.integer()) },
			func(b []byte, v reflect.Value) []byte { return appendInteger(b, v.Int()) },
		}
	case t.Kind() == reflect.Bool:
		return codec{
			func(r *reader, v reflect.Value) { v.SetBool(r.boolean()) },
			func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) },
		}
	}
	panic(fmt.Sprintf("wire: no encoding of %v", t))
}

func tagOf(t reflect.Type) (string, bool) {
	for i := 0; i < t.NumField(); i++ {
		if t.Field(i).Type == typeFor[Tag]() {
			return t.Field(i).Tag.Get("wire"), true
		}
	}
	return "", false
}

// A field of a record: "type" itself has the place -1.
type field struct {
	name  string
	key   []byte // `"name":`, with a comma before it if it is not the first
	place int
	codec *codec
}

func typeFor[T any]() reflect.Type { return reflect.TypeOf((*T)(nil)).Elem() }

func place(fields []field, name string) int {
	for i, f := range fields {
		if f.name == name {
			return i
		}
	}
	return -1
}

func structCodec(t reflect.Type) codec {
	var fields []field
	tag, tagged := tagOf(t)
	add := func(name string, place int, c *codec) {
		key := appendText(nil, name)
		if len(fields) > 0 {
			key = append([]byte{','}, key...)
		}
		fields = append(fields, field{name, append(key, ':'), place, c})
	}
	if tagged {
		add("type", -1, nil)
	}
	for i := 0; i < t.NumField(); i++ {
		if f := t.Field(i); f.Type != typeFor[Tag]() {
			name := f.Tag.Get("wire")
			if name == "" {
				name = snake(f.Name)
			}
			add(name, i, codecOf(f.Type))
		}
	}
	read := func(r *reader, v reflect.Value) {
		seen, next := uint64(0), 0
		r.object(func(key string) {
			i := next
			if i >= len(fields) || fields[i].name != key {
				i = place(fields, key)
			}
			switch {
			case i < 0:
				r.fail("%v has no field %q", t, key)
			case seen&(1<<i) != 0:
				r.fail("%v: field %q comes twice", t, key)
			case fields[i].place < 0:
				if got := r.text(); got != tag {
					r.fail("%v is of type %q, not %q", t, tag, got)
				}
			default:
				fields[i].codec.read(r, v.Field(fields[i].place))
			}
			seen, next = seen|1<<i, i+1
		})
		for i, f := range fields {
			if seen&(1<<i) == 0 {
				r.fail("%v: field %q is missing", t, f.name)
			}
		}
	}
	write := func(b []byte, v reflect.Value) []byte {
		b = append(b, '{')
		for _, f := range fields {
			b = append(b, f.key...)
			if f.place < 0 {
				b = appendText(b, tag)
			} else {
				b = f.codec.write(b, v.Field(f.place))
			}
		}
		return append(b, '}')
	}
	return codec{read, write}
}

func unionCodec(t reflect.Type) codec {
	return codec{
		func(r *reader, v reflect.Value) {
			if r.next() == 'n' {
				r.word("null")
				v.Set(reflect.Zero(t))
				return
			}
			known, ok := unions.Load(t)
			if !ok {
				r.fail("nothing is registered for %v", t)
			}
			tag := r.peekType()
			member, ok := known.(map[string]reflect.Type)[tag]
			if !ok {
				r.fail("no %v has the type %q", t, tag)
			}
			value := reflect.New(member).Elem()
			codecOf(member).read(r, value)
			v.Set(value)
		},
		func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return codecOf(v.Elem().Type()).write(b, v.Elem())
		},
	}
}

func mapCodec(t reflect.Type) codec {
	element := codecOf(t.Elem())
	return codec{
		func(r *reader, v reflect.Value) {
			made := reflect.MakeMap(t)
			value := reflect.New(t.Elem()).Elem()
			r.object(func(key string) {
				value.Set(reflect.Zero(t.Elem()))
				element.read(r, value)
				if k := reflect.ValueOf(key); made.MapIndex(k).IsValid() {
					r.fail("key %q comes twice", key)
				} else {
					made.SetMapIndex(k, value)
				}
			})
			v.Set(made)
		},
		func(b []byte, v reflect.Value) []byte {
			keys := v.MapKeys()
			sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
			b = append(b, '{')
			for i, k := range keys {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(appendText(b, k.String()), ':')
				b = element.write(b, v.MapIndex(k))
			}
			return append(b, '}')
		},
	}
}

// A function whose keys are integers: [[key, value], ...]. The order means nothing; it is written rising.
func pairsCodec(t reflect.Type) codec {
	element := codecOf(t.Elem())
	return codec{
		func(r *reader, v reflect.Value) {
			made := reflect.MakeMap(t)
			r.each('[', ']', func() {
				r.take('[')
				key := reflect.ValueOf(r.integer())
				r.take(',')
				value := reflect.New(t.Elem()).Elem()
				element.read(r, value)
				r.take(']')
				if made.MapIndex(key).IsValid() {
					r.fail("key %d comes twice", key.Int())
				}
				made.SetMapIndex(key, value)
			})
			v.Set(made)
		},
		func(b []byte, v reflect.Value) []byte {
			keys := v.MapKeys()
			sort.Slice(keys, func(i, j int) bool { return keys[i].Int() < keys[j].Int() })
			b = append(b, '[')
			for i, k := range keys {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(appendInteger(append(b, '['), k.Int()), ',')
				b = append(element.write(b, v.MapIndex(k)), ']')
			}
			return append(b, ']')
		},
	}
}

func tupleCodec(t reflect.Type) codec {
	var items []*codec
	for i := 1; i < t.NumField(); i++ {
		items = append(items, codecOf(t.Field(i).Type))
	}
	return codec{
		func(r *reader, v reflect.Value) {
			i := 0
			r.each('[', ']', func() {
				if i == len(items) {
					r.fail("%v has %d items", t, len(items))
				}
				items[i].read(r, v.Field(i+1))
				i++
			})
			if i < len(items) {
				r.fail("%v has %d items", t, len(items))
			}
		},
		func(b []byte, v reflect.Value) []byte {
			b = append(b, '[')
			for i, item := range items {
				if i > 0 {
					b = append(b, ',')
				}
				b = item.write(b, v.Field(i+1))
			}
			return append(b, ']')
		},
	}
}

func sliceCodec(t reflect.Type) codec {
	element := codecOf(t.Elem())
	_, isSet := t.MethodByName("IsSet")
	return codec{
		func(r *reader, v reflect.Value) {
			list := reflect.MakeSlice(t, 0, 0)
			r.each('[', ']', func() {
				value := reflect.New(t.Elem()).Elem()
				element.read(r, value)
				for i := 0; isSet && i < list.Len(); i++ {
					if list.Index(i).Interface() == value.Interface() {
						r.fail("twice in a set: %v", value)
					}
				}
				list = reflect.Append(list, value)
			})
			v.Set(list)
		},
		func(b []byte, v reflect.Value) []byte {
			b = append(b, '[')
			for i := 0; i < v.Len(); i++ {
				if i > 0 {
					b = append(b, ',')
				}
				b = element.write(b, v.Index(i))
			}
			return append(b, ']')
		},
	}
}

// ViewId is view_id.
func snake(name string) string {
	var out strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// Text as JSON has it.
func appendText(b []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // of a string there is no error
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendInteger(b []byte, n int64) []byte {
	if -plain <= n && n <= plain {
		return strconv.AppendInt(b, n, 10)
	}
	return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
}

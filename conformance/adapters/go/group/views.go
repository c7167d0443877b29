package group

import (
	"strings"
	"unicode/utf8"
)

// ViewId names a view. Along one member's path counters rise; only the whole identifier distinguishes views.
type ViewId struct {
	Counter int64
	Creator string
}

// View has its members in order of seniority.
type View struct {
	Id      ViewId
	Members []string
}

// NoView is the view of a member that has installed none.
var NoView = View{}

func (v View) Equal(w View) bool   { return v.Id == w.Id && Same(v.Members, w.Members) }
func (v View) Set() Set[string]    { return SetOf(v.Members...) }
func (v View) Coordinator() string { return v.Members[0] }

// Before says whether m is senior to x; both have to be members.
func (v View) Before(m, x string) bool {
	i, j := Index(v.Members, m), Index(v.Members, x)
	return i >= 0 && i < j
}

// An address is a name or, of a later incarnation, the name, `#` and a number.
func nameAndNumber(address string) (name, number string) {
	i := strings.LastIndexByte(address, '#')
	if i < 1 || i == len(address)-1 || strings.Trim(address[i+1:], "0123456789") != "" {
		return address, "1"
	}
	return address[:i], strings.TrimLeft(address[i+1:], "0")
}

// IsFormer says whether address a is of an earlier incarnation of the name that b is of.
func IsFormer(a, b string) bool {
	nameA, x := nameAndNumber(a)
	nameB, y := nameAndNumber(b)
	less := len(x) < len(y) || len(x) == len(y) && x < y // numbers of any length, without leading zeros
	return utf8.RuneCountInString(b) > 2 && a != b && nameA == nameB && less
}

// LatestLives is function without the addresses of which a later incarnation is known, but for members of the
// view.
func LatestLives[V any](function map[string]V, members Set[string]) map[string]V {
	known := Keys(function).Or(members)
	out := map[string]V{}
	for a, v := range function {
		over := Any(known, func(b string) bool { return IsFormer(a, b) })
		if !over || members.Has(a) {
			out[a] = v
		}
	}
	return out
}

// Decision is a view as GMS and merging know it. Follows: the view before it. Lives: the newest incarnation
// of each address that was ever in a view of this branch. Joiners: the members that begin with it. Digest:
// where these start.
type Decision struct {
	Id      ViewId
	Members []string
	Follows ViewId
	Lives   map[string]int64
	Joiners Set[string]
	Digest  map[string]int64
}

// NoDecision is that of a member which has installed no view.
var NoDecision = Decision{}

func (d Decision) View() View       { return View{d.Id, d.Members} }
func (d Decision) Set() Set[string] { return SetOf(d.Members...) }
func (d Decision) IsNone() bool     { return d.Equal(NoDecision) }

func (d Decision) Equal(o Decision) bool {
	return d.Id == o.Id && Same(d.Members, o.Members) && d.Follows == o.Follows && SameMap(d.Lives, o.Lives) &&
		d.Joiners.Equal(o.Joiners) && SameMap(d.Digest, o.Digest)
}

// IsList says that there is a member, and none twice.
func IsList(members []string) bool { return len(members) > 0 && len(SetOf(members...)) == len(members) }

// KnowsLives says that the incarnation of each member is known.
func KnowsLives(members []string, lives map[string]int64) bool {
	for _, life := range lives {
		if life < 0 {
			return false
		}
	}
	return AreIn(SetOf(members...), lives)
}

// IsSound is what holds of every decision, whoever made it.
func (d Decision) IsSound() bool {
	return IsList(d.Members) && KnowsLives(d.Members, d.Lives) && d.Id.Counter > d.Follows.Counter && d.Joiners.Within(d.Set())
}

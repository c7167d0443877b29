// Package safe is spec/safe/Safe.tla with the constants of its reference.
package safe

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Result = group.Result[State]
)

// Config: with Majority a view goes on when it is formed.
type Config struct {
	Majority bool `wire:"Majority"`
}

// State of a member. Safe.tla says what each field means.
type State struct {
	Member       string
	View         group.View
	Formed       group.ViewId
	Sent         int64
	Had          map[string]int64
	Told, Before int64
	Among        Set
	Asks         bool
	Acks         map[string]Ack
}

type (
	// Data is multicast, Ack unicast to the sender of Data.
	Data struct {
		_       wire.Tag `wire:"DATA"`
		Number  int64
		Payload wire.Payload
	}
	Ack struct {
		_      wire.Tag `wire:"ACK"`
		ViewId group.ViewId
		Number int64
	}
)

type (
	// Event is one of the structs below.
	Event any

	DataReceived struct {
		_       wire.Tag `wire:"DataReceived"`
		Sender  string
		Message Data
	}
	AckReceived struct {
		_       wire.Tag `wire:"AckReceived"`
		Sender  string
		Message Ack
	}
)

func init() {
	wire.Union[Event](group.SendRequested{}, DataReceived{}, AckReceived{}, group.ViewFormed{}, group.ViewInstalled{},
		group.MergeViewInstalled{})
}

// Start is a member before its first view.
func Start(member string) State { return State{Member: member} }

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case group.SendRequested:
		return sendRequested(s, e)
	case DataReceived:
		return dataReceived(c, s, e)
	case AckReceived:
		return ackReceived(c, s, e)
	case group.ViewFormed:
		return viewFormed(c, s, e)
	case group.ViewInstalled:
		return viewInstalled(c, s, e.View, false)
	case group.MergeViewInstalled:
		return viewInstalled(c, s, e.View, true)
	}
	panic("no event of SAFE")
}

func safeUpTo(n int64) group.Effect    { return group.PassUp{Event: group.SafeUpTo{Number: n}} }
func unknownUpTo(n int64) group.Effect { return group.PassUp{Event: group.UnknownUpTo{Number: n}} }

func (s State) own() int64 { return s.Had[s.Member] }

// heard has those of the members that have to acknowledge that did so in the present view.
func (s State) heard() Set {
	return s.Among.Where(func(m string) bool { return group.In(m, s.Acks) && s.Acks[m].ViewId == s.View.Id })
}

// hasAcks: the own messages up to n are acknowledged.
func (s State) hasAcks(n int64) bool {
	have := s.heard().Where(func(m string) bool { return s.Acks[m].Number >= n })
	return s.Among.Within(have.With(s.Member))
}

// allKnow: all members of the view know that it is formed.
func (s State) allKnow() bool {
	return !group.Any(s.View.Set().Without(s.Member), func(m string) bool {
		return !group.In(m, s.Acks) || s.Acks[m].ViewId != s.View.Id
	})
}

// isOpen: messages are ordered in the view, as far as this member knows.
func (s State) isOpen(c Config) bool { return !c.Majority || s.Formed == s.View.Id }

// acked is the highest own message that is safe.
func (s State) acked() int64 {
	n, heard := s.own(), s.heard()
	for _, m := range s.Among.Without(s.Member) {
		if !heard.Has(m) {
			n = 0
		} else if number := s.Acks[m].Number; number < n {
			n = number
		}
	}
	switch {
	case n > s.Before:
		return n
	case s.allKnow(): // what was delivered before this view
		return s.Before
	}
	return s.Told
}

// settled: what is not reported was delivered in this view.
func (s State) settled() State {
	s.Asks, s.Among = false, s.View.Set()
	return s
}

// answered: the answers decide what was delivered before the merge.
func answered(s State, effects group.Effects) Result {
	if !s.Asks {
		return group.Handled(s, effects)
	}
	hasLess := func(m string) bool { return m != s.Member && s.Acks[m].Number < s.Before }
	report := safeUpTo(s.Before)
	if group.Any(s.heard(), hasLess) {
		report = unknownUpTo(s.Before)
	} else if !s.hasAcks(s.Before) {
		return group.Handled(s, effects)
	}
	s.Told = s.Before
	return group.Handled(s.settled(), group.Appended(effects, report))
}

// report reports what can be reported now, after these effects.
func report(c Config, s State, effects group.Effects) Result {
	first := answered(s, effects)
	t := first.State
	n := t.acked()
	if t.Asks || !t.isOpen(c) || n == t.Told {
		return first
	}
	t.Told, t.Before = n, n
	return group.Handled(t, group.Appended(first.Effects, safeUpTo(n)))
}

// says has to each other member of the view how much is delivered of it.
func (s State) says() (list group.Effects) {
	for _, m := range s.View.Members {
		if m != s.Member {
			list = append(list, group.Send{To: m, Message: Ack{ViewId: s.View.Id, Number: s.Had[m]}})
		}
	}
	return list
}

func sendRequested(s State, e group.SendRequested) Result {
	if s.View.Equal(group.NoView) {
		return group.LocalError(s)
	}
	s.Sent++
	return group.Handled(s, group.Effects{group.Multicast{Message: Data{Number: s.Sent, Payload: e.Payload}}})
}

func dataReceived(c Config, s State, e DataReceived) Result {
	number := e.Message.Number
	if !s.View.Set().Has(e.Sender) || number < 1 {
		return group.RemoteError(s)
	}
	s.Had = group.Noted(s.Had, e.Sender, number)
	up := group.Effects{group.PassUp{Event: group.Deliver{Sender: e.Sender, Payload: e.Message.Payload}}}
	if e.Sender == s.Member {
		if !s.Asks {
			s = s.settled()
		}
		return report(c, s, up)
	}
	return group.Handled(s, append(up, group.Send{To: e.Sender, Message: Ack{ViewId: s.View.Id, Number: number}}))
}

func ackReceived(c Config, s State, e AckReceived) Result {
	id := e.Message.ViewId
	isPresent := id == s.View.Id
	switch {
	case !isPresent && id.Counter <= s.View.Id.Counter:
		return group.Ignored(s)
	case isPresent && !s.View.Set().Has(e.Sender) || e.Message.Number > s.Sent:
		return group.RemoteError(s)
	}
	s.Acks = group.Noted(s.Acks, e.Sender, e.Message)
	if isPresent {
		return report(c, s, nil)
	}
	return group.Handled(s, nil)
}

// viewFormed may come before the view.
func viewFormed(c Config, s State, e group.ViewFormed) Result {
	if !c.Majority {
		return group.LocalError(s)
	}
	s.Formed = e.ViewId
	effects := group.Effects{group.PassUp{Event: e}}
	if e.ViewId != s.View.Id {
		return group.Handled(s, effects)
	}
	return report(c, s, append(effects, s.says()...))
}

func viewInstalled(c Config, s State, view group.View, merged bool) Result {
	now := view.Set()
	if !now.Has(s.Member) || view.Id.Counter <= s.View.Id.Counter {
		return group.LocalError(s)
	}
	before := s
	var effects group.Effects
	if s.Asks { // what is still undecided from before a merge is not known any more
		if s.Told != s.Before {
			effects = append(effects, unknownUpTo(s.Before))
		}
		s.Told = s.Before
		s = s.settled()
	}
	own := s.own()
	isWhole := s.Among.Within(now)
	s.View, s.Before = view, own
	s.Had = group.LatestLives(s.Had, now)
	s.Acks = map[string]Ack{}
	for m, ack := range before.Acks {
		if ack.ViewId == view.Id || ack.ViewId.Counter > view.Id.Counter {
			s.Acks[m] = ack
		}
	}
	var says group.Effects
	if s.isOpen(c) && (merged || c.Majority) {
		says = s.says()
	}
	ends := func(report group.Effect) Result {
		s.Told = own
		return group.Handled(s.settled(), group.Join(effects, group.Effects{report}, says))
	}
	switch {
	case own <= s.Told:
		return group.Handled(s.settled(), group.Join(effects, says))
	case merged && !isWhole:
		return ends(unknownUpTo(own))
	case merged:
		s.Asks = true
		return report(c, s, group.Join(effects, says))
	case !c.Majority:
		return ends(safeUpTo(own))
	}
	return report(c, s, group.Join(effects, says))
}

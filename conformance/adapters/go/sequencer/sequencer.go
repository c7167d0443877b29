// Package sequencer is spec/sequencer/Sequencer.tla with the constants of its reference.
package sequencer

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Result = group.Result[State]
)

// State of a member. Start says what each field is at first, Sequencer.tla and Primary.tla what it means.
type State struct {
	Member        string
	View          group.View
	Epoch         group.ViewId
	Seqno         int64
	ForwardTable  []Entry
	ReceivedTable map[string]Mark
	Early         []Forward
	Suspected     Set
	Founds        bool
	Attempts      []group.View
	Formed        bool
	Reports       map[string]Report
}

type (
	// Entry is an own multicast that did not come back yet.
	Entry struct {
		Seqno   int64
		Payload wire.Payload
	}
	// Mark is the highest tag received of a sender.
	Mark struct {
		Epoch group.ViewId
		Seqno int64
	}
	// Tag identifies a multicast.
	Tag struct {
		Sender string
		Epoch  group.ViewId
		Seqno  int64
	}

	Forward struct {
		_       wire.Tag `wire:"FORWARD"`
		ViewId  group.ViewId
		Tag     Tag
		Payload wire.Payload
	}
	Data struct {
		_       wire.Tag `wire:"DATA"`
		ViewId  group.ViewId
		Tag     Tag
		Payload wire.Payload
	}
	Plain struct {
		_       wire.Tag `wire:"PLAIN"`
		Payload wire.Payload
	}
)

type (
	// Event is one of the structs below.
	Event any

	PlainReceived struct {
		_       wire.Tag `wire:"PlainReceived"`
		Sender  string
		Message Plain
	}
	ForwardReceived struct {
		_       wire.Tag `wire:"ForwardReceived"`
		Sender  string
		Message Forward
	}
	DataReceived struct {
		_       wire.Tag `wire:"DataReceived"`
		Sender  string
		Message Data
	}
)

func init() {
	wire.Union[Event](group.SendRequested{}, group.UnicastRequested{}, PlainReceived{}, ForwardReceived{}, DataReceived{},
		ReportReceived{}, FormedReceived{}, Restored{}, group.ViewInstalled{}, group.Suspected{})
}

// Start is a member before its first view.
func Start(member string) State { return State{Member: member, Founds: true} }

func (s State) joined() bool        { return !s.View.Equal(group.NoView) }
func (s State) isCoordinator() bool { return s.joined() && s.View.Coordinator() == s.Member }

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case group.SendRequested:
		return sendRequested(c, s, e)
	case group.UnicastRequested:
		return group.Handled(s, group.Effects{group.Send{To: e.To, Message: Plain{Payload: e.Payload}}})
	case PlainReceived:
		return group.Handled(s, group.Effects{group.PassUp{Event: group.DeliverUnicast{Sender: e.Sender, Payload: e.Message.Payload}}})
	case ForwardReceived:
		return forwardReceived(c, s, e)
	case DataReceived:
		return dataReceived(s, e)
	case ReportReceived:
		return released(c, s, reportReceived(c, s, e))
	case FormedReceived:
		return formedReceived(c, s, e)
	case Restored:
		return restored(c, s, e)
	case group.ViewInstalled:
		return viewInstalled(c, s, e)
	case group.Suspected:
		return suspected(s, e)
	}
	panic("no event of SEQUENCER")
}

func deliver(sender string, payload wire.Payload) group.Effects {
	return group.Effects{group.PassUp{Event: group.Deliver{Sender: sender, Payload: payload}}}
}

// submit: an own message is ordered here, or by the coordinator.
func (s State) submit(entry Entry) group.Effect {
	tag := Tag{s.Member, s.Epoch, entry.Seqno}
	if s.isCoordinator() {
		return group.Multicast{Message: Data{ViewId: s.View.Id, Tag: tag, Payload: entry.Payload}}
	}
	return group.Send{
		To:      s.View.Coordinator(),
		Message: Forward{ViewId: s.View.Id, Tag: tag, Payload: entry.Payload},
	}
}

// ordered: a FORWARD that is accepted is multicast once.
func (s State) ordered(f Forward) group.Effect {
	return group.Multicast{Message: Data{ViewId: s.View.Id, Tag: f.Tag, Payload: f.Payload}}
}

// resent: the whole table, in order.
func (s State) resent() group.Effects {
	var effects group.Effects
	for _, entry := range s.ForwardTable {
		effects = append(effects, s.submit(entry))
	}
	return effects
}

// due: FORWARDs of this coordinator's view that were early, and are ordered now.
func (s State) due(early []Forward) group.Effects {
	var effects group.Effects
	members := s.View.Set()
	for _, f := range early {
		if f.ViewId == s.View.Id && members.Has(f.Tag.Sender) && !s.Suspected.Has(f.Tag.Sender) {
			effects = append(effects, s.ordered(f))
		}
	}
	return effects
}

// stillEarly: FORWARDs of views that may follow the view of s; of this one, while its coordinator waits.
func (s State) stillEarly(c Config, early []Forward) []Forward {
	if s.mustWait(c) {
		return group.Select(early, func(f Forward) bool { return f.ViewId == s.View.Id || f.ViewId.Counter > s.View.Id.Counter })
	}
	return group.Select(early, func(f Forward) bool { return f.ViewId.Counter > s.View.Id.Counter })
}

// released: after a step of primary.go, what has waited is ordered, if the coordinator need wait no more.
func released(c Config, s State, step Result) Result {
	after := step.State
	if !s.mustWait(c) || after.mustWait(c) {
		return step
	}
	after.Early = after.stillEarly(c, s.Early)
	return group.Handled(after, group.Join(step.Effects, after.resent(), after.due(s.Early)))
}

func sendRequested(c Config, s State, e group.SendRequested) Result {
	if !s.joined() {
		return group.LocalError(s)
	}
	entry := Entry{s.Seqno + 1, e.Payload}
	var effects group.Effects
	if !s.mustWait(c) {
		effects = group.Effects{s.submit(entry)}
	}
	s.Seqno, s.ForwardTable = entry.Seqno, group.Appended(s.ForwardTable, entry)
	return group.Handled(s, effects)
}

func forwardReceived(c Config, s State, e ForwardReceived) Result {
	f := e.Message
	switch {
	case f.ViewId.Counter > s.View.Id.Counter:
		if e.Sender != f.Tag.Sender {
			return group.RemoteError(s)
		}
		s.Early = group.Appended(s.Early, f)
		return group.Handled(s, nil)
	case f.ViewId != s.View.Id:
		return group.Ignored(s)
	case !s.isCoordinator() || !s.View.Set().Has(e.Sender) || e.Sender != f.Tag.Sender:
		return group.RemoteError(s)
	case s.Suspected.Has(e.Sender):
		return group.Ignored(s)
	case s.mustWait(c):
		s.Early = group.Appended(s.Early, f)
		return group.Handled(s, nil)
	}
	return group.Handled(s, group.Effects{s.ordered(f)})
}

// suspected: nothing more is ordered for the member.
func suspected(s State, e group.Suspected) Result {
	switch {
	case e.Suspect == s.Member:
		return group.LocalError(s)
	case !s.View.Set().Has(e.Suspect) || s.Suspected.Has(e.Suspect):
		return group.Ignored(s)
	}
	s.Suspected = s.Suspected.With(e.Suspect)
	return group.Handled(s, nil)
}

func dataReceived(s State, e DataReceived) Result {
	tag := e.Message.Tag
	switch {
	case !s.joined() || e.Message.ViewId.Counter > s.View.Id.Counter:
		return group.RemoteError(s)
	case e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case e.Sender != s.View.Coordinator() || !s.View.Set().Has(tag.Sender):
		return group.RemoteError(s)
	}
	cleared := s
	if tag.Sender == s.Member && tag.Epoch == s.Epoch {
		cleared.ForwardTable = group.Select(s.ForwardTable, func(x Entry) bool { return x.Seqno != tag.Seqno })
	}
	if mark, ok := s.ReceivedTable[tag.Sender]; ok && mark.Epoch == tag.Epoch && tag.Seqno <= mark.Seqno {
		if len(cleared.ForwardTable) == len(s.ForwardTable) {
			return group.Ignored(s)
		}
		return group.Handled(cleared, nil)
	}
	cleared.ReceivedTable = group.Noted(s.ReceivedTable, tag.Sender, Mark{tag.Epoch, tag.Seqno})
	return group.Handled(cleared, deliver(tag.Sender, e.Message.Payload))
}

func viewInstalled(c Config, s State, e group.ViewInstalled) Result {
	members := e.View.Set()
	switch {
	case !members.Has(s.Member):
		return group.LocalError(s)
	case e.View.Id.Counter <= s.View.Id.Counter:
		return group.Ignored(s)
	}
	before, early := s, s.Early
	if !before.joined() {
		s.Epoch = e.View.Id
	}
	s.View = e.View
	s.ReceivedTable = group.LatestLives(s.ReceivedTable, members)
	s.Suspected = s.Suspected.And(members)
	s, effects := s.attempt(c, before)
	s.Early = s.stillEarly(c, early)
	if s.mustWait(c) {
		return group.Handled(s, effects)
	}
	effects = append(effects, s.resent()...)
	if s.isCoordinator() {
		effects = append(effects, s.due(early)...)
	}
	return group.Handled(s, effects)
}

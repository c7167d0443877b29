// Package unicast is spec/unicast/Unicast.tla with the constants of its reference.
package unicast

import (
	"strconv"

	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Result = group.Result[State]
)

// Config: the first and the longest wait for an acknowledgement, in ms, and how many messages go again at most.
type Config struct {
	RetransmitMin int64 `wire:"RetransmitMin"`
	RetransmitMax int64 `wire:"RetransmitMax"`
	ResendMost    int64 `wire:"ResendMost"`
}

// State of a member. Start says what each field is at first, Unicast.tla what it means.
type State struct {
	Member      string
	Incarnation int64
	Members     Set
	Opened      int64
	Sends       map[string]SendSide
	Receives    map[string]Window
	Known       map[string]int64
}

type (
	Connection struct{ Incarnation, Number int64 }
	// Entry is a message that is kept, or waits.
	Entry struct {
		_       wire.Tuple
		Seqno   int64
		Payload wire.Payload
	}
	// SendSide is the own side of a connection.
	SendSide struct {
		Connection Connection
		Next       int64
		Kept       []Entry
		Interval   int64
	}
	// Window is the side of a connection that receives.
	Window struct {
		Connection Connection
		Delivered  int64
		Ahead      []Entry
	}

	Data struct {
		_          wire.Tag `wire:"DATA"`
		Connection Connection
		Seqno      int64
		Receiver   int64
		Payload    wire.Payload
	}
	Ack struct {
		_           wire.Tag `wire:"ACK"`
		Connection  Connection
		Seqno       int64
		Incarnation int64
	}
	SendFirstSeqno struct {
		_           wire.Tag `wire:"SEND_FIRST_SEQNO"`
		Incarnation int64
	}
)

type (
	// Event is one of the structs below.
	Event any

	RetransmitTimeout struct {
		_      wire.Tag `wire:"RetransmitTimeout"`
		Number int64
	}
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
	SendFirstSeqnoReceived struct {
		_       wire.Tag `wire:"SendFirstSeqnoReceived"`
		Sender  string
		Message SendFirstSeqno
	}
	IncarnationBegins struct {
		_           wire.Tag `wire:"IncarnationBegins"`
		Incarnation int64
	}
)

func init() {
	wire.Union[Event](group.UnicastRequested{}, RetransmitTimeout{}, DataReceived{}, AckReceived{}, SendFirstSeqnoReceived{},
		group.ViewInstalled{}, group.SilenceReported{}, IncarnationBegins{})
}

// unknown is the incarnation of a peer that was not heard of.
const unknown = -1

// Start is a member of incarnation 0 before its first event.
func Start(member string) State { return State{Member: member} }

func (s State) isStart() bool {
	return s.Incarnation == 0 && len(s.Members) == 0 && s.Opened == 0 && len(s.Sends) == 0 && len(s.Receives) == 0 &&
		len(s.Known) == 0
}

func (s State) knownIncarnation(peer string) int64 {
	if incarnation, ok := s.Known[peer]; ok {
		return incarnation
	}
	return unknown
}

func (c Connection) higher(d Connection) bool {
	return c.Incarnation > d.Incarnation || c.Incarnation == d.Incarnation && c.Number > d.Number
}

// isOver: a later incarnation of the peer's name was heard of.
func (s State) isOver(peer string) bool {
	for known := range s.Known {
		if group.IsFormer(peer, known) {
			return true
		}
	}
	return false
}

// latest is the state about peers without former incarnations.
func latest[V any](s State, of map[string]V) map[string]V {
	left := map[string]V{}
	for peer, value := range of {
		if !s.isOver(peer) {
			left[peer] = value
		}
	}
	return left
}

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case group.UnicastRequested:
		return unicastRequested(c, s, e)
	case RetransmitTimeout:
		return retransmitTimeout(c, s, e)
	case DataReceived:
		return dataReceived(c, s, e)
	case AckReceived:
		return ackReceived(c, s, e)
	case SendFirstSeqnoReceived:
		return sendFirstSeqnoReceived(c, s, e)
	case group.ViewInstalled:
		return viewInstalled(s, e)
	case group.SilenceReported:
		return silenceReported(s, e)
	case IncarnationBegins:
		return incarnationBegins(s, e)
	}
	panic("no event of UNICAST")
}

// Sending

func deliver(sender string, payload wire.Payload) group.Effect {
	return group.PassUp{Event: group.Deliver{Sender: sender, Payload: payload}}
}

func (side SendSide) timer() group.Effect {
	name := "retransmit/" + strconv.FormatInt(side.Connection.Number, 10)
	return group.SetTimer{Name: name, Low: side.Interval, High: side.Interval}
}

// open opens a connection with what is to be sent in it.
func (s *State) open(c Config, payloads []Entry) SendSide {
	s.Opened++
	side := SendSide{Connection{s.Incarnation, s.Opened}, int64(len(payloads)) + 1, nil, c.RetransmitMin}
	for i, entry := range payloads {
		side.Kept = append(side.Kept, Entry{Seqno: int64(i) + 1, Payload: entry.Payload})
	}
	return side
}

// sent is how these of the messages that are kept for a peer go to it.
func (s State) sent(peer string, side SendSide, entries []Entry) group.Effects {
	var effects group.Effects
	for _, entry := range entries {
		effects = append(effects, group.Datagram{To: peer, Message: Data{
			Connection: side.Connection,
			Seqno:      entry.Seqno,
			Receiver:   s.knownIncarnation(peer),
			Payload:    entry.Payload,
		}})
	}
	return effects
}

func unicastRequested(c Config, s State, e group.UnicastRequested) Result {
	if e.To == s.Member {
		return group.Handled(s, group.Effects{deliver(s.Member, e.Payload)})
	}
	if s.isOver(e.To) {
		return group.Ignored(s)
	}
	side, ok := s.Sends[e.To]
	idle := len(side.Kept) == 0
	if !ok {
		side = s.open(c, []Entry{{Payload: e.Payload}})
	} else {
		side.Kept = group.Appended(side.Kept, Entry{Seqno: side.Next, Payload: e.Payload})
		side.Next++
	}
	s.Sends = group.Noted(s.Sends, e.To, side)
	effects := s.sent(e.To, side, side.Kept[len(side.Kept)-1:])
	if idle {
		effects = append(effects, side.timer())
	}
	return group.Handled(s, effects)
}

func retransmitTimeout(c Config, s State, e RetransmitTimeout) Result {
	for peer, side := range s.Sends {
		if side.Connection.Number != e.Number || len(side.Kept) == 0 {
			continue
		}
		if side.Interval *= 2; side.Interval > c.RetransmitMax {
			side.Interval = c.RetransmitMax
		}
		first := side.Kept
		if int64(len(first)) > c.ResendMost {
			first = first[:c.ResendMost]
		}
		s.Sends = group.Noted(s.Sends, peer, side)
		return group.Handled(s, append(s.sent(peer, side, first), side.timer()))
	}
	return group.Ignored(s)
}

// noteIncarnation: the peer is in this incarnation. `news` says whether no later or equal incarnation was known.
func (s State) noteIncarnation(c Config, peer string, incarnation int64) (after State, effects group.Effects, news bool) {
	before := s.knownIncarnation(peer)
	if incarnation <= before {
		return s, nil, false
	}
	s.Known = group.Noted(s.Known, peer, incarnation)
	s.Sends, s.Receives, s.Known = latest(s, s.Sends), latest(s, s.Receives), latest(s, s.Known)
	side, ok := s.Sends[peer]
	switch {
	case !ok:
	case before == unknown:
		effects = s.sent(peer, side, side.Kept)
	case len(side.Kept) == 0:
		s.Sends = group.Less(s.Sends, peer)
	default:
		side = s.open(c, side.Kept)
		s.Sends = group.Noted(s.Sends, peer, side)
		effects = append(s.sent(peer, side, side.Kept), side.timer())
	}
	return s, effects, true
}

// onlyHeard is what is left of an event that has said nothing but an incarnation.
func onlyHeard(s State, effects group.Effects, news bool) Result {
	if !news {
		return group.Ignored(s)
	}
	return group.Handled(s, effects)
}

func ackReceived(c Config, s State, e AckReceived) Result {
	m := e.Message
	side, ok := s.Sends[e.Sender]
	opened := m.Connection.Incarnation < s.Incarnation ||
		m.Connection.Incarnation == s.Incarnation && m.Connection.Number <= s.Opened
	if e.Sender == s.Member || !m.Connection.isOne() || m.Incarnation < 0 || m.Seqno < 0 || !opened ||
		ok && side.Connection == m.Connection && m.Seqno >= side.Next {
		return group.RemoteError(s)
	}
	if s.isOver(e.Sender) {
		return group.Ignored(s)
	}
	now, effects, news := s.noteIncarnation(c, e.Sender, m.Incarnation)
	side, ok = now.Sends[e.Sender]
	left := group.Select(side.Kept, func(entry Entry) bool { return entry.Seqno > m.Seqno })
	if !ok || side.Connection != m.Connection || len(left) == len(side.Kept) {
		return onlyHeard(now, effects, news)
	}
	side.Kept, side.Interval = left, c.RetransmitMin
	now.Sends = group.Noted(now.Sends, e.Sender, side)
	return group.Handled(now, effects)
}

func sendFirstSeqnoReceived(c Config, s State, e SendFirstSeqnoReceived) Result {
	if e.Sender == s.Member || e.Message.Incarnation < 0 {
		return group.RemoteError(s)
	}
	if s.isOver(e.Sender) {
		return group.Ignored(s)
	}
	return onlyHeard(s.noteIncarnation(c, e.Sender, e.Message.Incarnation))
}

// Receiving

func (c Connection) isOne() bool { return c.Incarnation >= 0 && c.Number >= 1 }

// add takes a message in, and gives what is in order now.
func (w *Window) add(seqno int64, payload wire.Payload) []wire.Payload {
	if seqno <= w.Delivered {
		return nil
	}
	below := group.Select(w.Ahead, func(entry Entry) bool { return entry.Seqno < seqno })
	above := group.Select(w.Ahead, func(entry Entry) bool { return entry.Seqno > seqno })
	w.Ahead = group.Join(below, []Entry{{Seqno: seqno, Payload: payload}}, above)
	var payloads []wire.Payload
	for len(w.Ahead) > 0 && w.Ahead[0].Seqno == w.Delivered+1 {
		payloads = append(payloads, w.Ahead[0].Payload)
		w.Ahead, w.Delivered = w.Ahead[1:], w.Delivered+1
	}
	return payloads
}

func dataReceived(c Config, s State, e DataReceived) Result {
	m := e.Message
	if e.Sender == s.Member || !m.Connection.isOne() || m.Seqno < 1 || m.Receiver < unknown || m.Receiver > s.Incarnation {
		return group.RemoteError(s)
	}
	if s.isOver(e.Sender) {
		return group.Ignored(s)
	}
	now, heard, news := s.noteIncarnation(c, e.Sender, m.Connection.Incarnation)
	window, has := s.Receives[e.Sender]
	switch {
	case has && window.Connection == m.Connection:
	case has && window.Connection.higher(m.Connection):
		return onlyHeard(now, heard, news)
	case m.Receiver != s.Incarnation:
		ask := group.Datagram{To: e.Sender, Message: SendFirstSeqno{Incarnation: s.Incarnation}}
		return group.Handled(now, append(group.Effects{ask}, heard...))
	default:
		window = Window{Connection: m.Connection}
	}
	var effects group.Effects
	for _, payload := range window.add(m.Seqno, m.Payload) {
		effects = append(effects, deliver(e.Sender, payload))
	}
	now.Receives = group.Noted(s.Receives, e.Sender, window)
	ack := Ack{Connection: m.Connection, Seqno: window.Delivered, Incarnation: s.Incarnation}
	return group.Handled(now, append(append(effects, group.Datagram{To: e.Sender, Message: ack}), heard...))
}

// Views and incarnations

func viewInstalled(s State, e group.ViewInstalled) Result {
	members := e.View.Set()
	switch {
	case !members.Has(s.Member):
		return group.LocalError(s)
	case members.Equal(s.Members):
		return group.Ignored(s)
	}
	for _, excluded := range s.Members.Minus(members) {
		s.Sends = group.Less(s.Sends, excluded)
	}
	s.Members = members
	return group.Handled(s, nil)
}

// silenceReported: no later view excludes a peer that the view is without.
func silenceReported(s State, e group.SilenceReported) Result {
	_, sends := s.Sends[e.Peer]
	if !sends || len(s.Members) == 0 || s.Members.Has(e.Peer) {
		return group.Ignored(s)
	}
	s.Sends = group.Less(s.Sends, e.Peer)
	return group.Handled(s, nil)
}

func incarnationBegins(s State, e IncarnationBegins) Result {
	switch {
	case !s.isStart() || e.Incarnation < 0:
		return group.LocalError(s)
	case e.Incarnation == 0:
		return group.Ignored(s)
	}
	s.Incarnation = e.Incarnation
	return group.Handled(s, nil)
}

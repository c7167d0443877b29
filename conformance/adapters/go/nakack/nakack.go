// Package nakack is spec/nakack/Nakack.tla with the constants of its reference.
package nakack

import (
	"sort"

	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Vector = map[string]int64
	Result = group.Result[State]
)

// Config: ms between two HIGHEST, and from when a gap is seen to a request; the most messages that a request names when
// none has arrived.
type Config struct {
	HighestInterval int64 `wire:"HighestInterval"`
	RequestDelay    int64 `wire:"RequestDelay"`
	FirstAsked      int64 `wire:"FirstAsked"`
}

// State of a member. Start says what each field is at first, Nakack.tla what it means.
type State struct {
	Member  string
	View    group.View
	Windows map[string]Window
	Former  Former
	Held    bool
	Limit   Vector
	Starts  Vector
	Asking  bool
}

type (
	// Source is who is said to have an origin's messages, up to a seqno.
	Source struct {
		Holder string
		Upto   int64
	}
	// Window is what a member has of an origin.
	Window struct {
		Low, Base, Purged, Delivered int64
		Kept                         []wire.Payload
		Pending                      map[int64]wire.Payload
		Told, Fetch                  Source
		Arrived                      int64
	}
	// Store is what was delivered of an origin in the view before.
	Store struct {
		Purged int64
		Kept   []wire.Payload
	}
	Former struct {
		ViewId group.ViewId
		Stores map[string]Store
	}
	// Range has both its ends in it.
	Range struct{ First, Last int64 }

	Data struct {
		_       wire.Tag `wire:"DATA"`
		ViewId  group.ViewId
		Origin  string
		Seqno   int64
		Payload wire.Payload
	}
	Highest struct {
		_      wire.Tag `wire:"HIGHEST"`
		ViewId group.ViewId
		Digest Vector
	}
	XmitReq struct {
		_      wire.Tag `wire:"XMIT_REQ"`
		ViewId group.ViewId
		Origin string
		Ranges []Range
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
	HighestTimeout struct {
		_ wire.Tag `wire:"HighestTimeout"`
	}
	HighestReceived struct {
		_       wire.Tag `wire:"HighestReceived"`
		Sender  string
		Message Highest
	}
	RequestTimeout struct {
		_ wire.Tag `wire:"RequestTimeout"`
	}
	XmitReqReceived struct {
		_       wire.Tag `wire:"XmitReqReceived"`
		Sender  string
		Message XmitReq
	}
)

func init() {
	wire.Union[Event](group.SendRequested{}, DataReceived{}, HighestTimeout{}, HighestReceived{}, RequestTimeout{},
		XmitReqReceived{}, group.ViewInstalled{}, group.HoldBack{}, group.Release{}, group.Fetch{}, group.Purge{},
		group.GetDigest{}, group.DigestSet{}, group.WindowsAdded{})
}

// Seqnos begin at first; nothing is the highest of none.
const first, nothing = 0, first - 1

// Start is a member before its first view.
func Start(member string) State { return State{Member: member} }

func window(x string, n int64) Window {
	return Window{Low: n, Base: n, Purged: n, Delivered: n, Told: Source{x, n}, Fetch: Source{x, n}}
}

func (s State) inView() bool               { return !s.View.Equal(group.NoView) }
func (s State) members() group.Set[string] { return group.Keys(s.Windows) }

func (s State) deliveredVector() Vector {
	return group.Map(s.members(), func(x string) int64 { return s.Windows[x].Delivered })
}

// meant is the seqno of a count that begins with the view.
func (w Window) meant(count int64) int64 { return w.Base + count }

// highestPending is the highest seqno that waits, or least.
func (w Window) highestPending(least int64) int64 {
	for n := range w.Pending {
		least = greatest(least, n)
	}
	return least
}

// deliverable is the highest seqno of x that may be delivered now, of those up to n.
func (s State) deliverable(x string, n int64) int64 {
	if s.Held {
		return min(n, s.Windows[x].meant(s.Limit[x]))
	}
	return n
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func greatest(a, b int64) int64 { return -min(-a, -b) }

// with is the state with another window of x.
func (s State) with(x string, w Window) State {
	s.Windows = group.Noted(s.Windows, x, w)
	return s
}

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case group.SendRequested:
		return sendRequested(s, e)
	case DataReceived:
		return dataReceived(c, s, e)
	case HighestTimeout:
		return highestTimeout(c, s)
	case HighestReceived:
		return highestReceived(c, s, e)
	case RequestTimeout:
		return requestTimeout(c, s)
	case XmitReqReceived:
		return xmitReqReceived(s, e)
	case group.ViewInstalled:
		return viewInstalled(c, s, e)
	case group.HoldBack:
		return holdBack(c, s, e)
	case group.Release:
		return release(c, s)
	case group.Fetch:
		return fetch(c, s, e)
	case group.Purge:
		return purge(s, e)
	case group.GetDigest:
		return getDigest(s, e)
	case group.DigestSet:
		s.Starts = e.Digest
		return group.Handled(s, nil)
	case group.WindowsAdded:
		s.Starts = e.Digest
		return group.Handled(s, nil)
	}
	panic("no event of NAKACK")
}

// Delivering

func deliver(origin string, payload wire.Payload) group.Effect {
	return group.PassUp{Event: group.Deliver{Sender: origin, Payload: payload}}
}

var received group.Effect = group.PassUp{Event: group.MessageReceived{Size: 1}}

// drain delivers of an origin what can be delivered.
func (s State) drain(x string) (State, group.Effects) {
	w := s.Windows[x]
	top, last := s.deliverable(x, w.highestPending(w.Delivered)), w.Delivered
	kept, effects := group.Join(w.Kept), group.Effects(nil)
	for payload, ok := w.Pending[last+1]; ok && last < top; payload, ok = w.Pending[last+1] {
		last++
		kept = append(kept, payload)
		effects = append(effects, deliver(x, payload))
	}
	if last == w.Delivered {
		return s, nil
	}
	pending := map[int64]wire.Payload{}
	for n, payload := range w.Pending {
		if n > last {
			pending[n] = payload
		}
	}
	w.Delivered, w.Kept, w.Pending = last, kept, pending
	return s.with(x, w), effects
}

// drainAll does so of all, in the order of the view.
func (s State) drainAll() (State, group.Effects) {
	var all, effects group.Effects
	for _, x := range s.View.Members {
		s, effects = s.drain(x)
		all = append(all, effects...)
	}
	return s, all
}

// Asking

// gaps are the seqnos up to upto that are missing.
func (w Window) gaps(upto int64) []Range {
	have := []int64{w.Delivered}
	for n := range w.Pending {
		if n <= upto && n != w.Delivered {
			have = append(have, n)
		}
	}
	sort.Slice(have, func(i, j int) bool { return have[i] < have[j] })
	var gaps []Range
	for i, n := range have {
		next := upto + 1
		if i+1 < len(have) {
			next = have[i+1]
		}
		if n+1 <= next-1 {
			gaps = append(gaps, Range{n + 1, next - 1})
		}
	}
	return gaps
}

// firstOf is the first seqnos of these ranges, count of them at most.
func firstOf(gaps []Range, count int64) []Range {
	var kept []Range
	for _, gap := range gaps {
		if count == 0 {
			break
		}
		if gap.Last-gap.First >= count {
			gap.Last = gap.First + count - 1
		}
		count -= gap.Last - gap.First + 1
		kept = append(kept, gap)
	}
	return kept
}

// noneArrived is the same where a request has been sent.
func (s State) noneArrived() State {
	s.Windows = group.Map(s.members(), func(x string) Window {
		w := s.Windows[x]
		w.Arrived = 0
		return w
	})
	return s
}

// hears: a member has the messages of this window up to n.
func (w Window) hears(by string, n int64) Window {
	if n > w.Delivered {
		if by == w.Told.Holder {
			n = greatest(w.Told.Upto, n)
		}
		w.Told = Source{by, n}
	}
	return w
}

// requests are XMIT_REQs for messages of all members: to the member that the layers above named, and to the teller.
func (s State) requests(c Config) group.Effects {
	var requests group.Effects
	for _, x := range s.View.Members {
		if x == s.Member {
			continue
		}
		w := s.Windows[x]
		ask := func(to string, gaps []Range) {
			if len(gaps) > 0 {
				request := XmitReq{ViewId: s.View.Id, Origin: x, Ranges: gaps}
				requests = append(requests, group.Datagram{To: to, Message: request})
			}
		}
		most := c.FirstAsked + w.Arrived + w.Arrived/4
		named := firstOf(w.gaps(w.Fetch.Upto), most)
		known := firstOf(w.gaps(s.deliverable(x, w.highestPending(w.Told.Upto))), most)
		ask(w.Fetch.Holder, named)
		if w.Fetch.Holder != w.Told.Holder || !group.Same(named, known) {
			ask(w.Told.Holder, known)
		}
	}
	return requests
}

func (c Config) requestTimer() group.Effect {
	return group.SetTimer{Name: "request", Low: c.RequestDelay, High: c.RequestDelay}
}

func (c Config) highestTimer() group.Effect {
	return group.SetTimer{Name: "highest", Low: c.HighestInterval, High: c.HighestInterval}
}

// asking sets the timer for requests where something is missing and it is not set.
func asking(c Config, s State, effects group.Effects) Result {
	if s.Asking || len(s.requests(c)) == 0 {
		return group.Handled(s, effects)
	}
	s.Asking = true
	return group.Handled(s, append(effects, c.requestTimer()))
}

// Events

func sendRequested(s State, e group.SendRequested) Result {
	if !s.inView() {
		return group.LocalError(s)
	}
	w := s.Windows[s.Member]
	n := w.Delivered + 1
	if s.deliverable(s.Member, n) < n {
		return group.LocalError(s)
	}
	w.Delivered, w.Kept = n, group.Appended(w.Kept, e.Payload)
	data := Data{ViewId: s.View.Id, Origin: s.Member, Seqno: n, Payload: e.Payload}
	return group.Handled(s.with(s.Member, w),
		group.Effects{group.Datagram{To: group.All, Message: data}, received, deliver(s.Member, e.Payload)})
}

func dataReceived(c Config, s State, e DataReceived) Result {
	m := e.Message
	members := s.members()
	switch {
	case m.Seqno < first:
		return group.RemoteError(s)
	case !s.inView() || m.ViewId != s.View.Id:
		return group.Ignored(s)
	case !members.Has(m.Origin) || !members.Has(e.Sender):
		return group.RemoteError(s)
	}
	w := s.Windows[m.Origin]
	if _, waits := w.Pending[m.Seqno]; waits || m.Seqno <= w.Delivered {
		return group.Ignored(s)
	}
	if m.Seqno <= w.highestPending(greatest(w.Told.Upto, w.Fetch.Upto)) {
		w.Arrived++
	}
	w.Pending = group.Noted(w.Pending, m.Seqno, m.Payload)
	s, delivered := s.with(m.Origin, w).drain(m.Origin)
	s = s.with(m.Origin, s.Windows[m.Origin].hears(e.Sender, m.Seqno))
	return asking(c, s, append(group.Effects{received}, delivered...))
}

func highestTimeout(c Config, s State) Result {
	if !s.inView() {
		return group.LocalError(s)
	}
	for _, w := range s.Windows {
		if len(w.Kept) > 0 {
			highest := Highest{ViewId: s.View.Id, Digest: s.deliveredVector()}
			return group.Handled(s, group.Effects{group.Datagram{To: group.All, Message: highest}, c.highestTimer()})
		}
	}
	return group.Handled(s, group.Effects{c.highestTimer()})
}

func highestReceived(c Config, s State, e HighestReceived) Result {
	digest := e.Message.Digest
	for _, n := range digest {
		if n < nothing {
			return group.RemoteError(s)
		}
	}
	switch {
	case !s.inView() || e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !s.members().Has(e.Sender) || !group.Is(digest, s.members()):
		return group.RemoteError(s)
	}
	news := false
	windows := group.Map(s.members(), func(x string) Window {
		w := s.Windows[x].hears(e.Sender, digest[x])
		news = news || w.Told != s.Windows[x].Told
		return w
	})
	if !news {
		return group.Ignored(s)
	}
	s.Windows = windows
	return asking(c, s, nil)
}

func requestTimeout(c Config, s State) Result {
	requests := s.requests(c)
	switch {
	case !s.Asking:
		return group.Ignored(s)
	case len(requests) == 0:
		s.Asking = false
		return group.Handled(s.noneArrived(), nil)
	}
	return group.Handled(s.noneArrived(), append(requests, c.requestTimer()))
}

// storeOf is what a member has in its store of the view that a request names: the present view, or the view before.
func (s State) storeOf(m XmitReq) Store {
	if s.inView() && m.ViewId == s.View.Id {
		return Store{s.Windows[m.Origin].Purged, s.Windows[m.Origin].Kept}
	}
	if m.ViewId == s.Former.ViewId {
		return s.Former.Stores[m.Origin]
	}
	return Store{}
}

func (r Range) isOne() bool { return r.First >= first && r.Last >= r.First }

func xmitReqReceived(s State, e XmitReqReceived) Result {
	m := e.Message
	if len(m.Ranges) == 0 || group.Any(m.Ranges, func(r Range) bool { return !r.isOne() }) {
		return group.RemoteError(s)
	}
	members := s.members()
	if s.inView() && m.ViewId == s.View.Id && (!members.Has(m.Origin) || !members.Has(e.Sender)) {
		return group.RemoteError(s)
	}
	store := s.storeOf(m)
	var sends group.Effects
	for i, payload := range store.Kept {
		n := store.Purged + int64(i) + 1
		if group.Any(m.Ranges, func(r Range) bool { return r.First <= n && n <= r.Last }) {
			data := Data{ViewId: m.ViewId, Origin: m.Origin, Seqno: n, Payload: payload}
			sends = append(sends, group.Datagram{To: e.Sender, Message: data})
		}
	}
	if len(sends) == 0 || e.Sender == s.Member {
		return group.Ignored(s)
	}
	return group.Handled(s, sends)
}

func viewInstalled(c Config, s State, e group.ViewInstalled) Result {
	switch {
	case !e.View.Set().Has(s.Member):
		return group.LocalError(s)
	case e.View.Id.Counter <= s.View.Id.Counter:
		return group.Ignored(s)
	}
	entered := s
	entered.View = e.View
	entered.Windows = group.Map(e.View.Set(), func(x string) Window {
		if w, ok := s.Windows[x]; ok {
			entered := window(x, w.Delivered)
			entered.Low = w.Low
			return entered
		}
		if n, ok := s.Starts[x]; ok {
			return window(x, n)
		}
		return window(x, nothing)
	})
	entered.Former = Former{}
	if s.inView() {
		stores := group.Map(s.members(), func(x string) Store { return Store{s.Windows[x].Purged, s.Windows[x].Kept} })
		entered.Former = Former{s.View.Id, stores}
	}
	entered.Held, entered.Limit, entered.Starts = false, nil, nil
	if s.inView() {
		return group.Handled(entered, nil)
	}
	return group.Handled(entered, group.Effects{c.highestTimer()})
}

func holdBack(c Config, s State, e group.HoldBack) Result {
	if !s.inView() || !group.Is(e.Limit, s.members()) {
		return group.LocalError(s)
	}
	s.Held, s.Limit = true, e.Limit
	s, delivered := s.drainAll()
	return asking(c, s, delivered)
}

func release(c Config, s State) Result {
	switch {
	case !s.inView():
		return group.LocalError(s)
	case !s.Held:
		return group.Ignored(s)
	}
	s.Held, s.Limit = false, nil
	s, delivered := s.drainAll()
	return asking(c, s, delivered)
}

func fetch(c Config, s State, e group.Fetch) Result {
	if !s.inView() || !s.members().Has(e.Sender) || e.Holder == s.Member {
		return group.LocalError(s)
	}
	w := s.Windows[e.Sender]
	w.Fetch = Source{e.Holder, w.meant(e.Upto)}
	return asking(c, s.with(e.Sender, w), nil)
}

func purge(s State, e group.Purge) Result {
	if !s.inView() || !group.Is(e.Digest, s.members()) {
		return group.LocalError(s)
	}
	s.Windows = group.Map(s.members(), func(x string) Window {
		w := s.Windows[x]
		top := greatest(w.Purged, min(e.Digest[x], w.Delivered))
		w.Kept = w.Kept[min(top-w.Purged, int64(len(w.Kept))):]
		w.Purged = top
		return w
	})
	s.Former = Former{}
	return group.Handled(s, nil)
}

func getDigest(s State, e group.GetDigest) Result {
	if !s.inView() {
		return group.LocalError(s)
	}
	given := group.DigestGiven{Asker: e.Asker, Request: e.Request, Digest: s.deliveredVector()}
	return group.Handled(s, group.Effects{group.PassUp{Event: given}})
}

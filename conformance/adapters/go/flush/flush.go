package flush

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

// Start is a member before its first view.
func Start(member string) State {
	return State{Member: member, Block: "free", Run: idle(0)}
}

func idle(round int64) Run { return Run{Phase: "none", Round: round} }

func (s State) inView() bool           { return !s.View.Equal(group.NoView) }
func (s State) members() Set           { return s.View.Set() }
func (s State) isMember(m string) bool { return s.members().Has(m) }
func (s State) unsuspected() Set       { return s.members().Minus(s.Suspected) }
func (s State) running() bool          { return s.Run.Phase != "none" }
func (s State) isStopped() bool        { return s.Run.Phase == "stopped" }
func (s State) isFree() bool           { return s.Owner == "" && !s.Latched }
func (s State) asked() Set             { return group.Keys(s.Run.Reports) }

// Step is total over Event.
func Step(_ group.NothingToConfigure, s State, event Event) Result {
	switch e := event.(type) {
	case group.Suspend:
		return suspend(s, e)
	case group.Resume:
		return resume(s, e)
	case group.ViewInstalled:
		return viewInstalled(s, e)
	case group.MergeViewInstalled:
		return mergeViewInstalled(s, e)
	case group.Suspected:
		return suspected(s, e)
	case StartFlushReceived:
		return startFlushReceived(s, e)
	case BlockReturned:
		return blockReturned(s)
	case FlushCompletedReceived:
		return flushCompletedReceived(s, e)
	case ReconcileReceived:
		return reconcileReceived(s, e)
	case StopFlushReceived:
		return stopFlushReceived(s, e)
	case group.SendRequested:
		return sendRequested(s, e)
	case DataReceived:
		return dataReceived(s, e)
	}
	panic("no event of FLUSH")
}

// A step under way: its state so far, and its effects.
type step struct {
	State
	effects group.Effects
}

func (t *step) do(effects ...group.Effect) { t.effects = append(t.effects, effects...) }

func (t *step) down(event any) { t.do(group.PassDown{Event: event}) }

func begun(s State) *step { return &step{State: s} }

// ending is how a step ends: with what follows from the state that it leaves.
func (t *step) ending() Result {
	if t.mayBegin() {
		t.begin()
	}
	if t.isFree() && len(t.Later) > 0 {
		for _, m := range t.View.Members { // the most senior waiting requester
			if round, ok := t.Later[m]; ok {
				t.stop(m, round, forState)
				break
			}
		}
	}
	return group.Handled(t.State, t.effects)
}

func (t *step) reporting() Result {
	t.maybeReport()
	return t.ending()
}

// Requester

func (t *step) ask(phase string, round int64, to Set, message any) {
	t.Run = Run{Phase: phase, Round: round, Want: to}
	t.do(group.SendAll(t.View.Members, to, message)...)
}

func (t *step) begin() {
	asker := forState
	if t.Wants.Has(forViews) {
		asker = forViews
	}
	t.Owner, t.Asker, t.Owes = t.Member, asker, false
	round := t.Run.Round + 1
	t.ask("start", round, t.unsuspected(), StartFlush{ViewId: t.View.Id, Round: round, Asker: asker})
}

// isNext: no more senior requester waits.
func (s State) isNext() bool {
	for m := range s.Later {
		if s.View.Before(m, s.Member) {
			return false
		}
	}
	return true
}

func (s State) mayBegin() bool {
	return len(s.Wants) > 0 && s.inView() && !s.running() && s.Owner != s.Member &&
		(s.isFree() && s.isNext() || s.Wants.Has(forViews))
}

// stop: it is asked to stop by q.
func (t *step) stop(q string, round int64, asker string) {
	was := t.State
	cut := Vector{}
	if was.Frozen {
		cut = was.Delivered
	}
	later := was.Later
	if was.Asker == forState && was.Owner != was.Member && was.unsuspected().Has(was.Owner) {
		later = group.Noted(later, was.Owner, was.Round) // it is overtaken
	}
	t.Later = group.Less(later, q)
	t.Owner, t.Asker, t.Round, t.Owes, t.Limit = q, asker, round, true, cut
	if was.Block == "free" {
		t.Block = "asked"
		t.do(group.PassUp{Event: Block{}})
	}
	if q != was.Member {
		t.Run = idle(was.Run.Round)
	}
	if was.Frozen && !group.SameMap(was.Limit, cut) {
		t.down(group.HoldBack{Limit: cut})
	}
}

// target is the most that any member has delivered of each sender, and its most senior holder.
func (s State) target() (Vector, map[string]string) {
	target, holders := Vector{}, map[string]string{}
	for _, x := range s.View.Members {
		first := true
		for _, m := range s.View.Members {
			if report, ok := s.Run.Reports[m]; ok && (first || report[x] > target[x]) {
				target[x], holders[x], first = report[x], m, false
			}
		}
	}
	return target, holders
}

func (t *step) resumeAll() {
	t.Run = idle(t.Run.Round)
	t.do(group.SendAll(t.View.Members, t.unsuspected(), StopFlush{ViewId: t.View.Id})...)
}

// GroupStopped is passed to the callers.
func (t *step) tell() {
	none := true
	for _, asker := range []string{forViews, forState} {
		if t.Wants.Has(asker) {
			t.down(group.GroupStopped{Asker: asker})
			none = false
		}
	}
	t.Run = Run{Phase: "stopped", Round: t.Run.Round}
	t.Wants = t.Wants.Without(self)
	if none {
		t.resumeAll()
	}
}

func (t *step) maybeDone() {
	if t.Run.Phase != "start" && t.Run.Phase != "reconcile" || len(t.asked()) == 0 || len(t.Run.Want) > 0 {
		return
	}
	target, holders := t.target()
	for _, report := range t.Run.Reports {
		if !group.SameMap(report, target) {
			round := t.Run.Round + 1
			t.ask("reconcile", round, t.asked(),
				Reconcile{ViewId: t.View.Id, Round: round, Target: target, Holders: holders})
			return
		}
	}
	t.tell()
}

func flushCompletedReceived(s State, e FlushCompletedReceived) Result {
	switch {
	case !s.running() || e.Message.Round != s.Run.Round || e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !s.unsuspected().Has(e.Sender):
		return group.Ignored(s)
	case !group.Is(e.Message.Digest, s.members()):
		return group.RemoteError(s)
	}
	t := begun(s)
	if !s.Run.Want.Has(e.Sender) { // a flush with priority has released the sender since its first report
		t.begin()
		return t.ending()
	}
	t.Run.Want = s.Run.Want.Without(e.Sender)
	t.Run.Reports = group.Noted(s.Run.Reports, e.Sender, e.Message.Digest)
	t.maybeDone()
	return t.ending()
}

// strike: nothing is expected of x any more.
func (t *step) strike(x string) {
	t.Run.Want, t.Run.Reports = t.Run.Want.Without(x), group.Less(t.Run.Reports, x)
	if t.Run.Phase == "reconcile" {
		t.begin()
	} else {
		t.maybeDone()
	}
}

// Every member: stopping

func (s State) mayReport() bool {
	if !s.Owes || s.Block == "asked" || s.Delivered[s.Member] != s.Sent {
		return false
	}
	for x, n := range s.Limit {
		if s.Delivered[x] < n {
			return false
		}
	}
	return true
}

func (t *step) maybeReport() {
	if !t.mayReport() {
		return
	}
	if !t.Frozen {
		t.down(group.HoldBack{Limit: t.Delivered})
	}
	t.Owes, t.Frozen, t.Limit = false, true, t.Delivered
	t.do(group.Send{
		To:      t.Owner,
		Message: FlushCompleted{ViewId: t.View.Id, Round: t.Round, Digest: t.Delivered},
	})
}

// goesFirst: q's flush may come into force, whatever is.
func (s State) goesFirst(q, asker string) bool {
	return s.isFree() || q == s.Owner || asker == forViews ||
		s.Asker == forState && s.unsuspected().Has(s.Owner) && s.View.Before(q, s.Owner)
}

func startFlushReceived(s State, e StartFlushReceived) Result {
	q, round, asker := e.Sender, e.Message.Round, e.Message.Asker
	switch {
	case asker != forViews && asker != forState:
		return group.RemoteError(s)
	case !s.unsuspected().Has(q) || e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case q == s.Member && (!s.running() || round != s.Run.Round):
		return group.Ignored(s)
	}
	t := begun(s)
	if s.goesFirst(q, asker) {
		t.stop(q, round, asker)
		return t.reporting()
	}
	t.Later = group.Noted(s.Later, q, round)
	return t.ending()
}

// freeApplication: UNBLOCK follows BLOCK's return.
func (t *step) freeApplication() {
	if t.Block == "blocked" {
		t.Block = "free"
		t.do(group.PassUp{Event: Unblock{}})
	}
}

func blockReturned(s State) Result {
	if s.Block != "asked" {
		return group.Ignored(s)
	}
	t := begun(s)
	t.Block = "blocked"
	if s.isFree() {
		t.freeApplication()
		return t.ending()
	}
	t.Latched = true
	return t.reporting()
}

func isReachable(s State, target Vector, holders map[string]string) bool {
	if !group.Is(target, s.members()) || !group.Is(holders, s.members()) {
		return false
	}
	for x, holder := range holders {
		if !s.isMember(holder) || holder == s.Member && s.Delivered[x] < target[x] {
			return false
		}
	}
	return true
}

func reconcileReceived(s State, e ReconcileReceived) Result {
	target, holders := e.Message.Target, e.Message.Holders
	switch {
	case e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !isReachable(s, target, holders):
		return group.RemoteError(s)
	case group.In(e.Sender, s.Later):
		s.Later = group.Noted(s.Later, e.Sender, e.Message.Round)
		return group.Handled(s, nil)
	case e.Sender != s.Owner || s.Suspected.Has(e.Sender):
		return group.Ignored(s)
	}
	t := begun(s)
	if s.Frozen && !group.SameMap(s.Limit, target) {
		t.down(group.HoldBack{Limit: target})
	}
	for _, x := range s.View.Members {
		if s.Delivered[x] < target[x] {
			t.down(group.Fetch{Holder: holders[x], Sender: x, Upto: target[x]})
		}
	}
	t.Round, t.Owes, t.Limit = e.Message.Round, true, target
	return t.reporting()
}

// open: the latch opens, and what waits is multicast.
func (t *step) open() {
	if t.Frozen {
		t.down(group.Release{})
	}
	for _, payload := range t.Waiting {
		t.multicast(payload)
	}
	t.Latched, t.Waiting, t.Frozen, t.Limit = false, nil, false, nil
	t.Owes, t.Owner, t.Asker = false, "", ""
	t.freeApplication()
}

func stopFlushReceived(s State, e StopFlushReceived) Result {
	q := e.Sender
	switch {
	case e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case group.In(q, s.Later):
		s.Later = group.Less(s.Later, q)
		return group.Handled(s, nil)
	case s.isFree() || !s.unsuspected().Has(q) || s.Owner != "" && s.Owner != q:
		return group.Ignored(s)
	}
	t := begun(s)
	t.open()
	return t.ending()
}

// Events of the layers below

func suspend(s State, e group.Suspend) Result {
	if !s.inView() {
		return group.LocalError(s)
	}
	t := begun(s)
	t.Wants = s.Wants.With(e.Asker)
	switch {
	case s.running() && e.Asker == forViews && !s.Wants.Has(forViews):
		t.begin()
		return t.ending()
	case s.isStopped():
		t.down(group.GroupStopped{Asker: e.Asker})
		return group.Handled(t.State, t.effects)
	case s.Wants.Has(e.Asker):
		return group.Ignored(s)
	}
	return t.ending()
}

func resume(s State, e group.Resume) Result {
	if !s.Wants.Has(e.Asker) {
		return group.LocalError(s)
	}
	t := begun(s)
	t.Wants = s.Wants.Without(e.Asker)
	switch {
	case !s.isStopped():
		t.Wants = t.Wants.With(self)
	case len(t.Wants) > 0:
		return group.Handled(t.State, nil)
	default:
		t.resumeAll()
	}
	return t.ending()
}

func enter(s State, view group.View) Result {
	all := view.Set()
	t := begun(s)
	if !s.inView() {
		t.Latched = len(view.Members) > 1 // a joiner waits; a member alone has no member to wait for
	}
	t.View, t.Suspected, t.Sent = view, s.Suspected.And(all), 0
	t.Delivered = group.Map(all, func(string) int64 { return 0 })
	t.Frozen, t.Limit, t.Owes, t.Later = false, nil, false, nil
	if s.running() && !s.isStopped() {
		t.begin()
	}
	return t.ending()
}

func viewInstalled(s State, e group.ViewInstalled) Result {
	if !e.View.Set().Has(s.Member) {
		return group.LocalError(s)
	}
	return enter(s, e.View)
}

func mergeViewInstalled(s State, e group.MergeViewInstalled) Result {
	if !e.View.Set().Has(s.Member) {
		return group.LocalError(s)
	}
	isFirst := e.View.Coordinator() == s.Member
	if !isFirst || !s.isStopped() {
		s.Owner, s.Asker, s.Run = "", "", idle(s.Run.Round)
		if !isFirst {
			s.Wants = s.Wants.Without(forViews)
		}
	}
	return enter(s, e.View)
}

func suspected(s State, e group.Suspected) Result {
	x := e.Suspect
	switch {
	case x == s.Member:
		return group.LocalError(s)
	case !s.unsuspected().Has(x):
		return group.Ignored(s)
	}
	t := begun(s)
	t.Suspected, t.Later = s.Suspected.With(x), group.Less(s.Later, x)
	t.do(group.PassUp{Event: e})
	if s.Owner == x && s.Asker == forState {
		t.open()
	}
	t.strike(x)
	return t.ending()
}

// Multicasts

func (t *step) multicast(payload wire.Payload) {
	t.Sent++
	t.do(group.Multicast{Message: Data{ViewId: t.View.Id, Seqno: t.Sent, Payload: payload}})
}

func sendRequested(s State, e group.SendRequested) Result {
	t := begun(s)
	switch {
	case !s.inView():
		return group.LocalError(s)
	case s.Latched:
		t.Waiting = group.Appended(s.Waiting, e.Payload)
	default:
		t.multicast(e.Payload)
	}
	return group.Handled(t.State, t.effects)
}

func dataReceived(s State, e DataReceived) Result {
	x, seqno := e.Sender, e.Message.Seqno
	switch {
	case e.Message.ViewId != s.View.Id || !s.isMember(x) || seqno != s.Delivered[x]+1:
		return group.Ignored(s)
	case s.Frozen && seqno > s.Limit[x]:
		return group.RemoteError(s)
	}
	t := begun(s)
	t.Delivered = group.Noted(s.Delivered, x, seqno)
	t.do(group.PassUp{Event: group.Deliver{Sender: x, Payload: e.Message.Payload}})
	return t.reporting()
}

package gms

import "groupcomm.example/port/group"

// Start is a member before its first view.
func Start(member string) State {
	return State{Member: member, Phase: "following"}
}

// InView says whether it has installed a view.
func (s State) InView() bool { return !s.Decision.IsNone() }

func (s State) members() Set           { return s.Decision.Set() }
func (s State) isMember(m string) bool { return s.members().Has(m) }

// Unsuspected members, in order of seniority.
func (s State) Unsuspected() []string {
	return group.Select(s.Decision.Members, func(m string) bool { return !s.Suspected.Has(m) })
}

// Acts says whether it is the first member that it does not suspect itself.
func (s State) Acts() bool {
	trusted := s.Unsuspected()
	return !s.Gone && len(trusted) > 0 && trusted[0] == s.Member
}

func (s State) others() Set { return group.SetOf(s.Unsuspected()...).Without(s.Member) }

// before: those before m in the view of a decision; m has to be a member.
func before(d Decision, m string) Set { return group.SetOf(d.Members[:group.Index(d.Members, m)]...) }

// isOver: this incarnation of m, or a later one, was in a view of this branch.
func (s State) isOver(m string, life int64) bool {
	if newest, ok := s.Decision.Lives[m]; ok && life <= newest {
		return true
	}
	return s.hasLater(m)
}

// hasLater: a later incarnation of m's name was in a view of this branch.
func (s State) hasLater(m string) bool {
	for x := range s.Decision.Lives {
		if group.IsFormer(m, x) {
			return true
		}
	}
	return false
}

func (s State) isQueued(kind, m string) bool {
	return group.Any(s.Queue, func(r Request) bool { return r.Kind == kind && r.Member == m })
}

// waits: a request of m to join, of this incarnation or a later one, waits already.
func (s State) waits(m string, life int64) bool {
	return group.Any(s.Queue, func(r Request) bool { return r.isJoin() && r.Member == m && r.Life >= life })
}

// granting: the requests that the next view grants; waiting: those for a later one.
func (s State) granting() []Request { return s.Queue[:s.Admitting] }
func (s State) waiting() []Request  { return s.Queue[s.Admitting:] }

// promisees: the members that are promised a digest, in order.
func (s State) promisees() []string {
	var joiners []string
	for _, r := range s.granting() {
		if r.isJoin() {
			joiners = append(joiners, r.Member)
		}
	}
	return joiners
}

func (s State) withoutJoin(m string) State {
	isOther := func(r Request) bool { return !r.isJoin() || r.Member != m }
	granting := len(group.Select(s.granting(), isOther))
	s.Queue, s.Admitting = group.Select(s.Queue, isOther), int64(granting)
	if s.Phase == "admitting" && granting == 0 {
		s.Phase = "announcing"
	}
	return s
}

// withdrawal is the effect on the layers below when those requests to join are dropped whose members were promised a
// digest.
func (s State) withdrawal(isOf func(m string) bool) group.Effects {
	var effects group.Effects
	for _, m := range group.Select(s.promisees(), isOf) {
		effects = append(effects, group.PassDown{Event: group.PromiseWithdrawn{To: m}})
	}
	return effects
}

func is(m string) func(string) bool { return func(x string) bool { return x == m } }
func all(string) bool               { return true }

func (s State) struck(m string) State {
	s.Awaits, s.Owed = s.Awaits.Without(m), s.Owed.Without(m)
	return s
}

func (s State) ownLeave() Request { return Request{"leave", s.Member, s.Life} }

func (s State) queued(r Request) State {
	s.Queue = group.Appended(s.Queue, r)
	return s
}

// Phases, in the order in which one follows another. Gms.tla says what each waits for.
var Phases = []string{"following", "asking", "announcing", "answering", "at rest", "stopping", "admitting"}

// Leads says whether it decides the views.
func (s State) Leads() bool { return s.Phase != "following" && s.Phase != "asking" }

// spreads: acknowledgements of its view are awaited.
func (s State) spreads() bool { return s.Phase == "announcing" || s.Phase == "answering" }

// into is it in another phase: nothing is left of the one before.
func (s State) into(phase string, awaits Set) State {
	s.Phase, s.Awaits, s.Newest = phase, awaits, group.NoDecision
	s.TookOver, s.Owed, s.Admitting = false, nil, 0
	return s
}

// Enter is what a member has when it has installed a view.
func (s State) Enter(d Decision) State {
	s.Queue = group.Select(s.Queue, func(r Request) bool {
		return r.Kind == "leave" && r.Member != s.Member && d.Set().Has(r.Member)
	})
	s.Decision, s.Suspected, s.LeaveAsked, s.Joining = d, s.Suspected.And(d.Set()), "", false
	return s.into("following", nil)
}

func installed(d Decision) group.Effects {
	event := group.ViewInstalled{View: d.View()}
	return group.Effects{group.PassDown{Event: event}, group.PassUp{Event: event}}
}

func saySuspected(list []string, suspects Set) group.Effects {
	var said group.Effects
	for _, m := range list {
		if suspects.Has(m) {
			said = append(said, group.PassUp{Event: group.Suspected{Suspect: m}})
		}
	}
	return said
}

func send(to string, message any) group.Effects {
	return group.Effects{group.Send{To: to, Message: message}}
}

// A step ends with Proceed

// isDone: its last view is everywhere.
func (s State) isDone() bool {
	return (s.spreads() || s.Phase == "at rest") && len(s.Awaits) == 0
}

func (s State) hasToDecide() bool { return len(s.Queue) > 0 || len(s.Suspected) > 0 }

// mustGo: it asked a senior to leave, and would have to take over.
func (s State) mustGo() bool {
	return !s.Leads() && s.Acts() && s.Leaving && s.Decision.Members[0] != s.Member
}

// Proceed does all that follows, once down the list of phases.
func Proceed(s State, effects group.Effects) Result {
	for _, phase := range Phases {
		if s.Phase == phase {
			t, more := s.follow()
			s, effects = t, group.Join(effects, more)
		}
	}
	if s.Leaving && !s.Gone && !s.Acts() { // it asks whoever acts, and again when that is another
		if first := s.Unsuspected()[0]; first != s.LeaveAsked {
			s.LeaveAsked = first
			effects = group.Join(effects, send(first, LeaveReq{Life: s.Life}))
		}
	}
	return group.Handled(s, effects)
}

// follow is the next thing that follows, if a phase is at its end.
func (s State) follow() (State, group.Effects) {
	switch ended := len(s.Awaits) == 0; {
	case s.Gone:
		return s, nil
	case s.mustGo():
		s.Gone = true
		return s, group.Effects{group.PassUp{Event: Left{}}}
	case s.Phase == "following" && s.Acts(): // it takes over
		query := Query{ViewId: s.Decision.Id, Seniors: before(s.Decision, s.Member)}
		return s.into("asking", s.others()), group.SendAll(s.Decision.Members, s.others(), query)
	case s.Phase == "asking" && ended: // all have answered
		return s.sendAgain()
	case s.Phase == "announcing" && ended && len(s.Owed) > 0: // joiners are answered
		sent := group.SendAll(s.Decision.Members, s.Owed, JoinRsp{Decision: s.Decision})
		s.Phase, s.Awaits, s.Owed = "answering", s.Owed, nil
		return s, sent
	case s.isDone() && (s.TookOver || s.hasToDecide()):
		return s.into("stopping", nil), group.Effects{SuspendGroup}
	case s.isDone() && s.Phase != "at rest":
		return s.into("at rest", nil), group.Effects{ResumeGroup}
	}
	return s, nil
}

var (
	SuspendGroup = group.PassUp{Event: group.Suspend{Asker: Self}}
	ResumeGroup  = group.PassUp{Event: group.Resume{Asker: Self}}
)

// sendAgain: it installs the newest view, if that is not its own, and sends it to all, to the joiners last.
func (s State) sendAgain() (State, group.Effects) {
	var effects group.Effects
	if !s.Newest.IsNone() {
		queue := s.Queue
		effects = installed(s.Newest)
		s = s.Enter(s.Newest)
		s.Queue = queue
	}
	others := s.others()
	late := s.Decision.Joiners.And(others)
	olds := others.Minus(late)
	s = s.into("announcing", olds)
	s.TookOver, s.Owed = true, late
	if s.Leaving {
		s = s.queued(s.ownLeave())
	}
	return s, append(effects, group.SendAll(s.Decision.Members, olds, NewView{Decision: s.Decision})...)
}

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	if IsMalformed(s.Member, event) {
		return group.RemoteError(s)
	}
	switch e := event.(type) {
	case JoinRequested:
		return joinRequested(s, e)
	case LeaveRequested:
		return leaveRequested(s)
	case JoinReqReceived:
		return joinReqReceived(s, e)
	case JoinRefusedReceived:
		return joinRefusedReceived(s, e)
	case LeaveReqReceived:
		return leaveReqReceived(s, e)
	case LeaveRspReceived:
		return leaveRspReceived(s, e)
	case group.Suspected:
		return suspected(s, e)
	case QueryReceived:
		return queryReceived(s, e)
	case AnswerReceived:
		return answerReceived(s, e)
	case NewViewReceived:
		return newViewReceived(s, e)
	case JoinRspReceived:
		return joinRspReceived(s, e)
	case ViewAckReceived:
		return viewAckReceived(s, e)
	case group.GroupStopped:
		return groupStopped(c, s, e)
	case group.DigestGiven:
		return digestGiven(s, e)
	}
	panic("no event of GMS")
}

// IsMalformed says that no correct peer sends that, whatever the state of the member that gets it.
func IsMalformed(member string, event Event) bool {
	switch e := event.(type) {
	case JoinReqReceived:
		return e.Message.Life < 0
	case JoinRefusedReceived:
		return e.Message.Life < 0
	case LeaveReqReceived:
		return e.Message.Life < 0
	case LeaveRspReceived:
		return e.Message.Life < 0
	case NewViewReceived:
		return !e.Message.Decision.IsSound() || !e.Message.Decision.Set().Has(member)
	case JoinRspReceived:
		return !isFirstView(member, e.Sender, e.Message.Decision)
	case AnswerReceived:
		return !e.Message.Decision.IsNone() && !e.Message.Decision.IsSound()
	case QueryReceived:
		return e.Message.Seniors.Has(e.Sender) || e.Message.Seniors.Has(member)
	}
	return false
}

func isFirstView(member, x string, d Decision) bool {
	return d.IsSound() && d.Joiners.Has(member) && d.Set().Has(x) &&
		(!before(d, x).Has(member) || d.Joiners.Has(x)) && group.AreIn(d.Set().Minus(d.Joiners), d.Digest)
}

// Requests

func joinRequested(s State, e JoinRequested) Result {
	switch {
	case s.InView() || s.Gone:
		return group.LocalError(s)
	case e.Coordinator != s.Member:
		s.Life, s.Joining, s.Suspected = e.Life, true, s.Suspected.Without(e.Coordinator)
		return group.Handled(s, send(e.Coordinator, JoinReq{Life: e.Life}))
	case e.Life > 0:
		return group.LocalError(s)
	}
	founding := Decision{
		Id:      group.ViewId{Counter: 1, Creator: s.Member},
		Members: []string{s.Member},
		Lives:   Vector{s.Member: 0},
		Joiners: Set{s.Member},
	}
	return group.Handled(s.Enter(founding).into("at rest", nil), installed(founding))
}

func leaveRequested(s State) Result {
	switch {
	case !s.InView() || s.Gone:
		return group.LocalError(s)
	case s.Leaving:
		return group.Ignored(s)
	}
	s.Leaving = true
	if s.Leads() {
		s = s.queued(s.ownLeave())
	}
	return Proceed(s, nil)
}

func joinReqReceived(s State, e JoinReqReceived) Result {
	m, life := e.Sender, e.Message.Life
	switch {
	case !s.Acts() || m == s.Member || s.waits(m, life):
		return group.Ignored(s)
	case s.isOver(m, life):
		if s.Phase == "answering" && s.Awaits.Has(m) && life == s.Decision.Lives[m] {
			return group.Handled(s, send(m, JoinRsp{Decision: s.Decision})) // it asks again
		}
		if known, ok := s.Decision.Lives[m]; (ok && life == known && !s.isMember(m)) || s.hasLater(m) {
			return group.Handled(s, send(m, JoinRefused{Life: life})) // it was excluded before it knew, or is a former one
		}
		return group.Ignored(s)
	}
	withdrawal, t := s.withdrawal(is(m)), s.withoutJoin(m)
	if s.isMember(m) && !s.isQueued("leave", m) {
		t = t.struck(m)
		t.Queue = group.Join(t.granting(), []Request{{"leave", m, s.Decision.Lives[m]}}, t.waiting())
	}
	return Proceed(t.queued(Request{"join", m, life}), withdrawal)
}

func joinRefusedReceived(s State, e JoinRefusedReceived) Result {
	if s.Gone || s.InView() || !s.Joining || e.Message.Life != s.Life {
		return group.Ignored(s)
	}
	s.Gone = true
	return group.Handled(s, group.Effects{group.PassUp{Event: Left{}}})
}

func leaveReqReceived(s State, e LeaveReqReceived) Result {
	m := e.Sender
	// A request to join may be there, too, that another's view has granted, or a merge.
	if s.Gone || !s.isMember(m) || e.Message.Life != s.Decision.Lives[m] || s.isQueued("leave", m) {
		return group.Ignored(s)
	}
	return Proceed(s.queued(Request{"leave", m, e.Message.Life}), nil)
}

func leaveRspReceived(s State, e LeaveRspReceived) Result {
	if s.Gone || e.Message.Life != s.Life || !s.InView() {
		return group.Ignored(s)
	}
	s.Gone = true
	return group.Handled(s, group.Effects{group.PassUp{Event: Left{}}})
}

// Suspicion, and who takes over

func suspected(s State, e group.Suspected) Result {
	x := e.Suspect
	news := s.isMember(x) && !s.Suspected.Has(x)
	noted := news || s.isQueued("join", x) || s.Awaits.Has(x) || s.Owed.Has(x)
	switch {
	case x == s.Member:
		return group.LocalError(s)
	case s.Gone || !noted:
		return group.Ignored(s)
	}
	t := s.withoutJoin(x).struck(x)
	var said group.Effects
	if news {
		t.Suspected = s.Suspected.With(x)
		said = saySuspected(s.Decision.Members, Set{x})
	}
	return Proceed(t, group.Join(said, s.withdrawal(is(x)), s.handed(t)))
}

// handed: a joiner on which this member relies from now on may lack the view, and no other would send it.
func (s State) handed(t State) group.Effects {
	if !s.InView() {
		return nil
	}
	next := t.Unsuspected()[0]
	if next == s.Member || next == s.Unsuspected()[0] || !s.Decision.Joiners.Has(next) {
		return nil
	}
	return send(next, JoinRsp{Decision: s.Decision})
}

// isLate: a query of a former incarnation, about a view that is over.
func (s State) isLate(id group.ViewId) bool {
	return id.Counter <= s.Decision.Id.Counter && id != s.Decision.Id && id != s.Decision.Follows
}

func queryReceived(s State, e QueryReceived) Result {
	x, seniors := e.Sender, e.Message.Seniors
	answer := send(x, Answer{ViewId: e.Message.ViewId, Decision: s.Decision})
	switch {
	case s.Gone:
		return group.Ignored(s)
	case !s.InView():
		s.Suspected = s.Suspected.Or(seniors)
		return group.Handled(s, answer)
	case !s.isMember(x) || s.Suspected.Has(x) || seniors.Has(s.Member):
		return group.Ignored(s)
	case s.isLate(e.Message.ViewId):
		return group.Handled(s, answer)
	}
	refused := seniors.And(before(s.Decision, x))
	effects := group.Join(s.withdrawal(all),
		saySuspected(s.Decision.Members, refused.Minus(s.Suspected)), answer)
	s.Suspected = s.Suspected.Or(refused)
	return Proceed(s.into("following", nil), effects)
}

func answerReceived(s State, e AnswerReceived) Result {
	m, told := e.Sender, e.Message.Decision
	isAsked := s.Phase == "asking"
	if !s.Awaits.Has(m) || e.Message.ViewId != s.Decision.Id {
		return group.Ignored(s)
	}
	heard := s
	if isAsked {
		heard.Awaits = s.Awaits.Without(m)
	}
	switch {
	case told.IsNone() || told.Id == s.Decision.Id || told.Id == s.Decision.Follows:
		return Proceed(heard, nil)
	case isAsked && told.Follows == s.Decision.Id && told.Set().Has(s.Member):
		heard.Newest = told
		return Proceed(heard, nil)
	}
	t := s.struck(m) // it is on another branch
	t.Suspected = s.Suspected.With(m)
	return Proceed(t, saySuspected(s.Decision.Members, Set{m}.Minus(s.Suspected)))
}

// Views arrive

func (s State) elsewhere(sender string, d Decision) Result {
	return group.Handled(s, send(sender, Answer{ViewId: d.Id, Decision: s.Decision}))
}

// suspectedSince: whom a member refuses from then on when it acknowledges a view.
func (s State) suspectedSince(d Decision, sender string) Set {
	if d.Set().Has(sender) && !before(d, sender).Has(s.Member) {
		return before(d, sender).Minus(s.Suspected)
	}
	return nil
}

// again: the present view arrives again.
func (s State) again(sender string) Result {
	since := s.suspectedSince(s.Decision, sender)
	s.Suspected = s.Suspected.Or(since)
	return group.Handled(s, group.Join(saySuspected(s.Decision.Members, since), send(sender, ViewAck{ViewId: s.Decision.Id})))
}

func newViewReceived(s State, e NewViewReceived) Result {
	d := e.Message.Decision
	switch {
	case !s.InView() || s.Gone || s.Suspected.Has(e.Sender):
		return group.Ignored(s)
	case d.Id == s.Decision.Id:
		return s.again(e.Sender)
	case d.Follows != s.Decision.Id:
		return s.elsewhere(e.Sender, d)
	}
	since := s.suspectedSince(d, e.Sender)
	effects := group.Join(s.withdrawal(all), installed(d), saySuspected(d.Members, since),
		send(e.Sender, ViewAck{ViewId: d.Id}))
	s.Suspected = s.Suspected.Or(since)
	return Proceed(s.Enter(d), effects)
}

func joinRspReceived(s State, e JoinRspReceived) Result {
	d := e.Message.Decision
	switch {
	case s.Gone || s.Suspected.Has(e.Sender):
		return group.Ignored(s)
	case s.InView() && d.Id == s.Decision.Id:
		return s.again(e.Sender)
	case s.InView():
		return s.elsewhere(e.Sender, d)
	case !s.Joining || d.Lives[s.Member] != s.Life:
		return group.Ignored(s)
	}
	s.Suspected = before(d, e.Sender).And(before(d, s.Member))
	effects := group.Join(group.Effects{group.PassDown{Event: group.DigestSet{Digest: d.Digest}}}, installed(d),
		saySuspected(d.Members, s.Suspected), send(e.Sender, ViewAck{ViewId: d.Id}))
	return Proceed(s.Enter(d), effects)
}

func viewAckReceived(s State, e ViewAckReceived) Result {
	if !s.spreads() || !s.Awaits.Has(e.Sender) || e.Message.ViewId != s.Decision.Id {
		return group.Ignored(s)
	}
	s.Awaits = s.Awaits.Without(e.Sender)
	return Proceed(s, nil)
}

// Views are decided

// decide: the requests that are admitted are granted, and all that are suspected are out.
func decide(s State, digest Vector) Result {
	joiners := s.promisees()
	lives := s.Decision.Lives
	var granted Set
	var released group.Effects
	for _, r := range s.granting() {
		granted = granted.With(r.Member)
		switch {
		case r.isJoin():
			lives = group.Noted(lives, r.Member, r.Life)
		case r.Member != s.Member:
			released = append(released, send(r.Member, LeaveRsp{Life: r.Life})...)
		}
	}
	staying := group.Select(s.Unsuspected(), func(m string) bool { return !granted.Has(m) })
	members := group.Join(staying, joiners)
	done := s.into("announcing", nil)
	done.Queue = s.waiting()
	if group.Same(members, s.Decision.Members) {
		return Proceed(done, nil)
	}
	d := Decision{
		Id:      group.ViewId{Counter: s.Decision.Id.Counter + 1, Creator: s.Member},
		Members: members,
		Follows: s.Decision.Id,
		Lives:   group.LatestLives(lives, group.SetOf(members...)),
		Joiners: group.SetOf(joiners...),
	}
	if len(joiners) > 0 {
		d.Digest = digest
	}
	olds := group.SetOf(staying...).Without(s.Member)
	views := group.SendAll(members, olds, NewView{Decision: d})
	if !group.SetOf(staying...).Has(s.Member) { // it leaves: the next in line takes over
		done.Gone, done.Queue = true, nil
		return group.Handled(done, group.Join(views, released, group.Effects{group.PassUp{Event: Left{}}}))
	}
	t := s.Enter(d)
	t.Phase, t.Queue, t.Awaits, t.Owed = "announcing", done.Queue, olds, d.Joiners
	return Proceed(t, group.Join(installed(d), views, released))
}

// isGranted: a view has granted it already, to join by another coordinator, or to leave as it was suspected.
func (s State) isGranted(r Request) bool {
	if r.isJoin() {
		return s.isOver(r.Member, r.Life)
	}
	return !s.isMember(r.Member) || r.Life != s.Decision.Lives[r.Member]
}

// bundle: how many requests, from the head of the queue, the next view grants.
func (s State) bundle(most int64) int64 {
	joins, leaves := false, false
	for i, r := range s.Queue {
		joins, leaves = joins || r.isJoin(), leaves || r == s.ownLeave()
		if int64(i) == most || joins && leaves || r.isJoin() && s.isMember(r.Member) {
			return int64(i)
		}
	}
	return int64(len(s.Queue))
}

func groupStopped(c Config, s State, e group.GroupStopped) Result {
	if s.Phase != "stopping" || e.Asker != Self {
		if e.Asker != Self {
			return group.Handled(s, group.Effects{group.PassDown{Event: e}})
		}
		return group.Ignored(s)
	}
	s.Queue = group.Select(s.Queue, func(r Request) bool { return !s.isGranted(r) })
	s.Admitting = s.bundle(c.MaxBundle)
	joiners := s.promisees()
	if len(joiners) == 0 {
		return decide(s, nil)
	}
	s.Phase = "admitting"
	s.Asked++
	var effects group.Effects
	for _, m := range joiners {
		effects = append(effects, group.PassDown{Event: group.DigestPromised{To: m}})
	}
	return group.Handled(s, append(effects, group.PassDown{Event: group.GetDigest{Asker: Self, Request: s.Asked}}))
}

func digestGiven(s State, e group.DigestGiven) Result {
	switch {
	case e.Asker != Self:
		return group.Handled(s, group.Effects{group.PassUp{Event: e}})
	case s.Phase != "admitting" || e.Request != s.Asked:
		return group.Ignored(s)
	case !group.Is(e.Digest, s.members()):
		return group.LocalError(s)
	}
	return decide(s, group.Map(group.Keys(e.Digest).Minus(s.Suspected), func(m string) int64 { return e.Digest[m] }))
}

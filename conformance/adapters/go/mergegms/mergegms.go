// Package mergegms is spec/merge_gms/MergeGms.tla with the constants of its reference: GMS and merging, each as it
// stands in its own package, and what has to be between them.
package mergegms

import (
	"groupcomm.example/port/gms"
	"groupcomm.example/port/group"
	"groupcomm.example/port/merge"
	"groupcomm.example/port/wire"
)

type (
	Set      = group.Set[string]
	Decision = group.Decision
	Result   = group.Result[State]
)

// The caller that asks for a digest.
const self = "MERGE"

// Config has times in ms, and how many requests one view grants at most.
type Config struct {
	MaxBundle     int64 `wire:"MaxBundle"`
	MinInterval   int64 `wire:"MinInterval"`
	MaxInterval   int64 `wire:"MaxInterval"`
	LeaderTimeout int64 `wire:"LeaderTimeout"`
	MemberTimeout int64 `wire:"MemberTimeout"`
}

func (c Config) gms() gms.Config { return gms.Config{MaxBundle: c.MaxBundle} }
func (c Config) merge() merge.Config {
	return merge.Config{MinInterval: c.MinInterval, MaxInterval: c.MaxInterval, LeaderTimeout: c.LeaderTimeout,
		MemberTimeout: c.MemberTimeout}
}

// State of a member. Start says what each field is at first, MergeGms.tla what it means.
type State struct {
	Member string
	Gms    gms.State
	Merge  merge.State
	Merged merge.Merged
	Wish   Wish
	Holds  string
	Asked  int64
	Early  []Word
	Probed group.Set[Probed]
}

type (
	// Wish is nil, DiscoverTimeout or MergeReqReceived.
	Wish any
	// Question is gms.Query or Probe.
	Question any

	// Word is a question that cannot be answered yet.
	Word struct {
		Sender  string
		Message Question
	}
	// Probed: who was asked for which view.
	Probed struct {
		Id group.ViewId
		To string
	}
	// Probe asks: do you have that view?
	Probe struct {
		_      wire.Tag `wire:"PROBE"`
		ViewId group.ViewId
	}
)

type (
	// Event is one of the structs below, or of GMS's, or of merging's.
	Event any

	ProbeReceived struct {
		_       wire.Tag `wire:"ProbeReceived"`
		Sender  string
		Message Probe
	}
	// DiscoverTimeout and MergeReqReceived get their digest when the group is stopped.
	DiscoverTimeout struct {
		_     wire.Tag `wire:"DiscoverTimeout"`
		Found Set
	}
	MergeReqReceived struct {
		_       wire.Tag `wire:"MergeReqReceived"`
		Sender  string
		Message merge.MergeReq
	}
)

func init() {
	events := []Event{ProbeReceived{}, DiscoverTimeout{}, MergeReqReceived{}, merge.MergeRspReceived{}, merge.MergeTimeout{},
		merge.CancelMergeReceived{}, merge.InstallMergeViewReceived{}, merge.MergeViewReceived{}}
	for _, e := range gms.Events {
		events = append(events, e)
	}
	wire.Union(events...)
	wire.Union[Wish](DiscoverTimeout{}, MergeReqReceived{})
	wire.Union[Question](gms.Query{}, Probe{})
}

// Start is a member before its first view.
func Start(member string) State {
	return State{Member: member, Gms: gms.Start(member), Merge: merge.Start(member), Holds: "no"}
}

func (s State) joined() bool           { return s.Gms.InView() && !s.Gms.Gone }
func (s State) own() Decision          { return s.Gms.Decision }
func (s State) isMember(m string) bool { return s.own().Set().Has(m) }
func (s State) trusts(m string) bool   { return s.isMember(m) && !s.Gms.Suspected.Has(m) }
func (s State) inMerged() bool         { return s.Merged.Id == s.own().Id }
func (s State) wishes() bool           { return s.Wish != nil }

// request is the MERGE_REQ that waits.
func (s State) request() (MergeReqReceived, bool) {
	request, ok := s.Wish.(MergeReqReceived)
	return request, ok
}

// mayCome: a view that it has not may yet come. (Not where it leads its subgroup and is in no merge.)
func (s State) mayCome(id group.ViewId) bool {
	isCertain := s.Gms.Leads() && !s.Merge.Merging()
	return id.Counter > s.own().Id.Counter && !isCertain
}

func (s State) isOfTheDead(x string, theirs Decision) bool {
	ours, known := s.own().Lives[x]
	life, said := theirs.Lives[x]
	return known && said && life < ours
}

// A step under way: its state so far, and its effects.
type step struct {
	State
	config  Config
	effects group.Effects
}

func begun(c Config, s State) *step { return &step{State: s, config: c} }

func (t *step) do(effects ...group.Effect) { t.effects = append(t.effects, effects...) }

func (t *step) send(to string, message any) { t.do(group.Send{To: to, Message: message}) }

func (t *step) handled() Result { return group.Handled(t.State, t.effects) }

// GMS steps

// worded: of a merged view GMS's messages say too little. In their place goes what merging sends.
func (s State) worded(send group.Send) group.Send {
	var merged bool
	switch m := send.Message.(type) {
	case gms.NewView:
		merged = m.Decision.Id == s.Merged.Id
	case gms.Answer:
		merged = m.Decision.Id == s.Merged.Id && m.ViewId == m.Decision.Follows
	}
	if merged {
		send.Message = merge.MergeView{Merged: s.Merged}
	}
	return send
}

// fromGms: while merging has the group, GMS waits for it; and if merging wants it next, it stays stopped.
func (t *step) fromGms(effects group.Effects) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case group.Send:
			t.do(t.worded(e))
		case group.PassUp:
			_, suspends := e.Event.(group.Suspend)
			_, resumes := e.Event.(group.Resume)
			if !(suspends && t.Holds != "no") && !(resumes && t.wishes()) {
				t.do(e)
			}
		default:
			t.do(e)
		}
	}
}

// afterGms: GMS has taken a step, and its view is passed to merging.
func (t *step) afterGms(r gms.Result) {
	t.Gms = r.State
	t.fromGms(r.Effects)
	if t.own().Equal(t.Merge.Decision) {
		return
	}
	told := merge.Step(t.config.merge(), t.Merge, merge.DecisionInstalled{Decision: t.own()})
	if request, ok := t.request(); ok && t.isOfTheDead(request.Sender, request.Message.Decision) {
		t.Wish = nil
	}
	t.Merge, t.Probed = told.State, nil
	if t.Holds == "merging" {
		t.Holds = "no"
	}
	for _, effect := range told.Effects {
		if _, down := effect.(group.PassDown); !down {
			t.do(effect)
		}
	}
}

func (t *step) gms(event gms.Event) {
	t.afterGms(gms.Step(t.config.gms(), t.Gms, event))
}

// Merging steps

// endUseOfGroup: merging has the group no more.
func (t *step) endUseOfGroup() {
	t.Holds = "no"
	if t.Gms.Phase == "stopping" {
		t.do(gms.SuspendGroup)
	} else {
		t.do(gms.ResumeGroup)
	}
}

// maybeLetGo: the event that needed the digest is dropped, or began no merge.
func (t *step) maybeLetGo() {
	if t.Holds == "digest" {
		t.endUseOfGroup()
	}
}

// takeView: the merged view is GMS's next one.
func (t *step) takeView(d Decision) {
	queue := t.Gms.Queue
	t.Gms = t.Gms.Enter(d)
	if d.Members[0] == t.Member {
		t.Gms.Queue = queue
	}
	t.Holds, t.Probed = "no", nil
	t.do(group.PassDown{Event: group.ViewInstalled{View: d.View()}})
}

// announce: the merged view is announced, and GMS continues from there.
func (t *step) announce(subgroups group.Set[group.ViewId], effect group.Effect) {
	d := t.own()
	t.Merged = merge.Merged{Id: d.Id, Members: d.Members, Follows: subgroups, Lives: d.Lives, Digest: d.Digest}
	r := gms.Proceed(t.Gms, nil)
	t.Gms = r.State
	t.do(effect)
	t.fromGms(r.Effects)
}

// afterMerging: what merging does to GMS and to the layers around.
func (t *step) afterMerging(r merge.Result) {
	t.Merge = r.State
	for _, effect := range r.Effects {
		if up, ok := effect.(group.PassUp); ok {
			t.announce(up.Event.(group.MergeViewInstalled).Subgroups, effect)
			continue
		}
		down, ok := effect.(group.PassDown)
		if !ok {
			t.do(effect)
			continue
		}
		switch e := down.Event.(type) {
		case merge.MergeDecided:
			t.takeView(e.Decision)
		case merge.SuspendViews:
			t.Holds = "merging"
		case merge.ResumeViews:
			if t.Holds == "merging" {
				t.endUseOfGroup()
			}
		case group.Suspected:
			t.gms(e)
		default:
			t.do(effect)
		}
	}
}

// A member that is asked

// reply: the merged view if the sender asks for it, else the own view.
func (t *step) reply(x string, message Question) {
	var id group.ViewId
	switch q := message.(type) {
	case Probe:
		if id = q.ViewId; id == t.own().Id && t.inMerged() {
			t.send(x, merge.MergeView{Merged: t.Merged})
			return
		}
	case gms.Query:
		id = q.ViewId
	}
	t.do(t.worded(group.Send{To: x, Message: gms.Answer{ViewId: id, Decision: t.own()}}))
}

// isForGms: what comes from a member is GMS's, as it is; but for a PROBE.
func (s State) isForGms(x string, message Question) bool {
	_, isQuery := message.(gms.Query)
	return isQuery && s.isMember(x)
}

func aboutView(message Question) group.ViewId {
	if q, ok := message.(gms.Query); ok {
		return q.ViewId
	}
	return message.(Probe).ViewId
}

func (s State) isEarly(x string, message Question) bool {
	return !s.isForGms(x, message) && s.mayCome(aboutView(message))
}

func (w Word) equal(o Word) bool {
	q, ok := w.Message.(gms.Query)
	r, too := o.Message.(gms.Query)
	return w.Sender == o.Sender && ok == too && aboutView(w.Message) == aboutView(o.Message) && q.Seniors.Equal(r.Seniors)
}

// answerEarly: what was kept can be answered now.
func (t *step) answerEarly() {
	words, s := t.Early, t.State
	t.Early = group.Select(words, func(w Word) bool { return s.isEarly(w.Sender, w.Message) })
	for _, w := range words {
		switch q, _ := w.Message.(gms.Query); {
		case s.isEarly(w.Sender, w.Message):
		case t.isForGms(w.Sender, w.Message):
			t.gms(gms.QueryReceived{Sender: w.Sender, Message: q})
		default:
			t.reply(w.Sender, w.Message)
		}
	}
}

// askLeader: it asks who leads, as far as it knows, once for each view that it has reason to ask for.
func (t *step) askLeader() {
	if !t.joined() || t.Gms.Acts() {
		return
	}
	var doubts []group.ViewId
	if t.inMerged() {
		doubts = append(doubts, t.own().Id)
	}
	for _, w := range t.Early {
		doubts = append(doubts, aboutView(w.Message))
	}
	head := t.Gms.Unsuspected()[0]
	for _, id := range doubts {
		if probe := (Probed{id, head}); !t.Probed.Has(probe) {
			t.Probed = t.Probed.With(probe)
			t.send(head, Probe{ViewId: id})
		}
	}
}

// The group, and the digest

func (t *step) askForDigest() {
	t.Holds = "digest"
	t.Asked++
	t.do(group.PassDown{Event: group.GetDigest{Asker: self, Request: t.Asked}})
}

// ending is how a step ends: with what follows from the state that it leaves.
func (t *step) ending() Result {
	t.answerEarly()
	t.askLeader()
	if t.wishes() && t.Holds == "no" && t.Gms.Phase == "at rest" {
		t.Holds = "stopping"
		t.do(gms.SuspendGroup)
	}
	return t.handled()
}

func forGms(c Config, s State, event gms.Event) Result {
	r := gms.Step(c.gms(), s.Gms, event)
	if r.Outcome != group.HANDLED {
		return Result{Outcome: r.Outcome, State: s}
	}
	t := begun(c, s)
	t.afterGms(r)
	return t.ending()
}

func forMerging(c Config, s State, event merge.Event) Result {
	r := merge.Step(c.merge(), s.Merge, event)
	if r.Outcome != group.HANDLED {
		return Result{Outcome: r.Outcome, State: s}
	}
	t := begun(c, s)
	t.afterMerging(r)
	return t.ending()
}

// Step is total over Event. A member that has left takes no part in merges.
func Step(c Config, s State, event Event) Result {
	if isMalformed(s.Member, event) {
		return group.RemoteError(s)
	}
	switch e := event.(type) {
	case gms.QueryReceived:
		return questionReceived(c, s, e.Sender, e.Message, e)
	case ProbeReceived:
		return questionReceived(c, s, e.Sender, e.Message, nil)
	case gms.AnswerReceived:
		return answerReceived(c, s, e)
	case group.GroupStopped:
		return groupStopped(c, s, e)
	case group.DigestGiven:
		return digestGiven(c, s, e)
	case merge.MergeViewReceived, DiscoverTimeout, MergeReqReceived, merge.CancelMergeReceived, merge.MergeRspReceived,
		merge.InstallMergeViewReceived, merge.MergeTimeout:
		if s.Gms.Gone {
			return group.Ignored(s)
		}
	default:
		return forGms(c, s, e)
	}
	switch e := event.(type) {
	case merge.MergeViewReceived:
		return mergeViewReceived(c, s, e)
	case DiscoverTimeout:
		return discoverTimeout(c, s, e)
	case MergeReqReceived:
		return mergeReqReceived(c, s, e)
	case merge.CancelMergeReceived:
		return cancelMergeReceived(c, s, e)
	}
	return forMerging(c, s, event)
}

func isMalformed(member string, event Event) bool {
	if e, ok := event.(MergeReqReceived); ok {
		return merge.IsMalformed(member, merge.MergeReqReceived{Sender: e.Sender, Message: e.Message})
	}
	return merge.IsMalformed(member, event) || gms.IsMalformed(member, event)
}

// Events

func groupStopped(c Config, s State, e group.GroupStopped) Result {
	t := begun(c, s)
	switch {
	case e.Asker != gms.Self || s.Holds == "no":
		return forGms(c, s, e)
	case s.Holds != "stopping":
		return group.Ignored(s)
	case s.Gms.Phase == "stopping":
		s.Holds = "no"
		return forGms(c, s, e)
	case s.wishes():
		t.askForDigest()
	default:
		t.endUseOfGroup()
	}
	return t.ending()
}

// digestGiven: merging takes the step that it waited with.
func digestGiven(c Config, s State, e group.DigestGiven) Result {
	switch {
	case e.Asker != self:
		return forGms(c, s, e)
	case s.Holds != "digest" || !s.wishes() || e.Request != s.Asked:
		return group.Ignored(s)
	}
	var event merge.Event
	switch w := s.Wish.(type) {
	case DiscoverTimeout:
		event = merge.DiscoverTimeout{Found: w.Found, Digest: e.Digest}
	case MergeReqReceived:
		event = merge.MergeReqReceived{Sender: w.Sender, Message: w.Message, Digest: e.Digest}
	}
	r := merge.Step(c.merge(), s.Merge, event)
	if r.Outcome != group.HANDLED {
		return group.LocalError(s)
	}
	t := begun(c, s)
	t.Wish = nil
	t.afterMerging(r)
	t.maybeLetGo()
	return t.ending()
}

// dropped: if the group is stopped for the deferred event already, it is resumed.
func dropped(c Config, s State, effects ...group.Effect) Result {
	t := begun(c, s)
	t.Wish = nil
	t.do(effects...)
	t.maybeLetGo()
	return t.ending()
}

// unknown: an empty digest. Its event is looked at again when it is known.
func (s State) unknown() map[string]int64 {
	return group.Map(s.own().Set(), func(string) int64 { return -1 })
}

func (s State) begins(r merge.Result) bool { return r.State.Merging() && !s.Merge.Merging() }

func discoverTimeout(c Config, s State, e DiscoverTimeout) Result {
	r := merge.Step(c.merge(), s.Merge, merge.DiscoverTimeout{Found: e.Found, Digest: s.unknown()})
	again := c.merge().DiscoverAgain()
	_, waits := s.request()
	switch {
	case r.Outcome != group.HANDLED:
		return Result{Outcome: r.Outcome, State: s}
	case waits:
		return group.Handled(s, group.Effects{again})
	case s.begins(r):
		t := begun(c, s)
		t.Wish = e
		t.do(again)
		return t.ending()
	}
	return dropped(c, s, again)
}

func mergeReqReceived(c Config, s State, e MergeReqReceived) Result {
	if s.isOfTheDead(e.Sender, e.Message.Decision) {
		return group.Ignored(s)
	}
	r := merge.Step(c.merge(), s.Merge, merge.MergeReqReceived{Sender: e.Sender, Message: e.Message, Digest: s.unknown()})
	t := begun(c, s)
	switch other, waits := s.request(); {
	case r.Outcome != group.HANDLED:
		return Result{Outcome: r.Outcome, State: s}
	case !s.begins(r):
		t.afterMerging(r)
	case waits && other.Sender != e.Sender: // not for two leaders at once
		t.send(e.Sender, merge.MergeRsp{MergeId: e.Message.MergeId, Rejected: true})
		return t.handled()
	default:
		t.Wish = e
	}
	return t.ending()
}

func cancelMergeReceived(c Config, s State, e merge.CancelMergeReceived) Result {
	request, waits := s.request()
	if waits && request.Message.MergeId == e.Message.MergeId {
		return dropped(c, s)
	}
	return forMerging(c, s, e)
}

// questionReceived: a QUERY, which GMS may have to answer, or a PROBE, of a member that may know more.
func questionReceived(c Config, s State, x string, message Question, query gms.Event) Result {
	t := begun(c, s)
	switch {
	case query != nil && (!s.joined() || s.isForGms(x, message)):
		return forGms(c, s, query)
	case !s.joined() || s.Gms.Suspected.Has(x):
		return group.Ignored(s)
	case s.isEarly(x, message):
		word := Word{x, message}
		if group.Any(s.Early, word.equal) {
			return group.Ignored(s)
		}
		t.Early = group.Appended(s.Early, word)
		return t.ending()
	}
	t.reply(x, message)
	return t.handled()
}

func answerReceived(c Config, s State, e gms.AnswerReceived) Result {
	x, told, id := e.Sender, e.Message.Decision, e.Message.ViewId
	stays := s.inMerged() && id == s.own().Id && x != s.Member && s.trusts(x) && !told.IsNone() && !told.Set().Has(s.Member)
	about := group.Select(s.Early, func(w Word) bool { return aboutView(w.Message) == id })
	t := begun(c, s)
	switch {
	case !s.joined():
		return forGms(c, s, e)
	case stays: // by another view, without this member
		t.gms(group.Suspected{Suspect: x})
	case len(about) > 0 && s.trusts(x) && told.Id != id: // the leader will not install the view: say so
		var askers Set
		for _, w := range about {
			askers = askers.With(w.Sender)
			t.send(w.Sender, gms.Answer{ViewId: id, Decision: told})
		}
		t.Early = group.Select(s.Early, func(w Word) bool { return !askers.Has(w.Sender) })
	default:
		return forGms(c, s, e)
	}
	return t.ending()
}

func mergeViewReceived(c Config, s State, e merge.MergeViewReceived) Result {
	x, merged := e.Sender, e.Message.Merged
	t := begun(c, s)
	switch {
	case s.Gms.Suspected.Has(x):
		return group.Ignored(s)
	case merged.Id == s.own().Id:
		t.send(x, gms.ViewAck{ViewId: merged.Id})
		if s.Gms.LeaveAsked == x { // it may have ignored that when it had not got the view
			t.send(x, gms.LeaveReq{Life: s.Gms.Life})
		}
	case merged.Follows.Has(s.own().Id) && s.isMember(x) && !s.Gms.Leads():
		return forMerging(c, s, e)
	case s.mayCome(merged.Id):
		return group.Ignored(s)
	default:
		t.send(x, gms.Answer{ViewId: merged.Id, Decision: s.own()})
	}
	return t.handled()
}

package merge

import (
	"fmt"

	"groupcomm.example/port/group"
)

// Start is a member before its first view.
func Start(member string) State { return State{Member: member} }

func (s State) inView() bool { return !s.Decision.IsNone() }

// Merging says whether it is in a merge.
func (s State) Merging() bool { return s.Merge != noMerge }

func (s State) coordinates() bool { return s.inView() && s.Decision.Members[0] == s.Member }

func (s State) idle() State {
	s.Merge, s.Awaiting, s.Responses = noMerge, nil, nil
	return s
}

// moved: it has installed a view. An early merged view that is not later is out of date.
func (s State) moved(d Decision) State {
	s.Decision = d
	s.Early = group.Select(s.Early, func(m Merged) bool { return m.Id.Counter > d.Id.Counter })
	return s
}

func (s State) nextEarly() []Merged {
	return group.Select(s.Early, func(m Merged) bool { return m.Follows.Has(s.Decision.Id) })
}

func (s State) waits() bool { return !s.Merging() && len(s.nextEarly()) > 0 }

func (s State) followEarly() group.Effects {
	if s.waits() {
		return group.Effects{group.SetTimer{Name: "early"}}
	}
	return nil
}

// asked: of a leader, the coordinators in the merge, without itself.
func (s State) asked() Set { return group.Keys(s.Responses).Or(s.Awaiting).Without(s.Member) }

// promisedTo: the members to which a member in a merge has promised its digest.
func (s State) promisedTo() Set {
	to := Set{s.Merge.Leader}
	if s.Merge.Leader == s.Member {
		to = s.asked()
	}
	return to.Minus(s.Decision.Set())
}

func forEach(set Set, event func(m string) any) group.Effects {
	var effects group.Effects
	for _, m := range group.Sorted(set) {
		effects = append(effects, group.PassDown{Event: event(m)})
	}
	return effects
}

func promised(set Set) group.Effects {
	return forEach(set, func(m string) any { return group.DigestPromised{To: m} })
}

func withdrawn(set Set) group.Effects {
	return forEach(set, func(m string) any { return group.PromiseWithdrawn{To: m} })
}

func disowned(set Set) group.Effects {
	return forEach(set, func(m string) any { return group.Suspected{Suspect: m} })
}

func sendEach(set Set, message any) group.Effects {
	return group.SendAll(group.Sorted(set), set, message)
}

func timerOf(number int64) string { return fmt.Sprintf("merge/%d", number) }

// DiscoverAgain sets the timer of discovery.
func (c Config) DiscoverAgain() group.Effect {
	return group.SetTimer{Name: "discover", Low: c.MinInterval, High: c.MaxInterval}
}

// leave: it is in the merge no longer, and those in `to` are promised nothing any more.
func (s State) leave(to Set) group.Effects {
	return group.Join(group.Effects{group.CancelTimer{Name: timerOf(s.Begun)}}, withdrawn(to),
		group.Effects{group.PassDown{Event: ResumeViews{}}})
}

func (s State) giveUp() (State, group.Effects) {
	if !s.Merging() {
		return s, nil
	}
	return s.idle(), group.Join(s.leave(s.promisedTo()), sendEach(s.asked(), CancelMerge{MergeId: s.Merge}))
}

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	if IsMalformed(s.Member, event) {
		return group.RemoteError(s)
	}
	switch e := event.(type) {
	case DecisionInstalled:
		return decisionInstalled(c, s, e)
	case EarlyTimeout:
		return earlyTimeout(s)
	case DiscoverTimeout:
		return discoverTimeout(c, s, e)
	case MergeReqReceived:
		return mergeReqReceived(c, s, e)
	case MergeRspReceived:
		return mergeRspReceived(s, e)
	case MergeTimeout:
		return mergeTimeout(s, e)
	case CancelMergeReceived:
		return cancelMergeReceived(s, e)
	case InstallMergeViewReceived:
		return installMergeViewReceived(s, e)
	case MergeViewReceived:
		return mergeViewReceived(s, e)
	}
	panic("no event of merging")
}

// IsMalformed says that no correct peer sends that, whatever the state of the member that gets it.
func IsMalformed(member string, event Event) bool {
	switch e := event.(type) {
	case MergeReqReceived:
		d := e.Message.Decision
		return e.Sender == member || e.Sender != e.Message.MergeId.Leader || !d.IsSound() || !d.Set().Has(e.Sender)
	case MergeRspReceived:
		d := e.Message.Decision
		if e.Message.Rejected {
			return e.Sender == member || !d.IsNone() && !d.IsSound()
		}
		return e.Sender == member || !d.IsSound() || !d.Set().Has(e.Sender) || !group.Is(e.Message.Digest, d.Set())
	case InstallMergeViewReceived:
		m := e.Message.Merged
		return e.Sender == member || e.Sender != e.Message.MergeId.Leader || !m.isSound() || !m.Set().Has(member)
	case MergeViewReceived:
		m := e.Message.Merged
		return e.Sender == member || !m.isSound() || !m.Set().Has(member) || !m.Set().Has(e.Sender)
	case CancelMergeReceived:
		return e.Sender == member || e.Sender != e.Message.MergeId.Leader
	}
	return false
}

// Discovery

func discoverTimeout(c Config, s State, e DiscoverTimeout) Result {
	others := e.Found.Without(s.Member)
	switch {
	case !s.inView():
		return group.Ignored(s)
	case !group.Is(e.Digest, s.Decision.Set()):
		return group.LocalError(s)
	case !s.coordinates() || s.Merging() || len(others) == 0 || group.Sorted(others)[0] < s.Member:
		return group.Handled(s, group.Effects{c.DiscoverAgain()})
	}
	s.Begun++
	s.Merge = MergeId{s.Member, s.Decision.Lives[s.Member], s.Begun}
	s.Awaiting, s.Responses = others, map[string]Response{s.Member: {s.Decision, e.Digest}}
	return group.Handled(s, group.Join(
		group.Effects{c.DiscoverAgain(), group.PassDown{Event: SuspendViews{}}},
		promised(s.promisedTo()),
		group.Effects{group.SetTimer{Name: timerOf(s.Begun), Low: c.LeaderTimeout, High: c.LeaderTimeout}},
		sendEach(others, MergeReq{MergeId: s.Merge, Decision: s.Decision})))
}

// The merge of coordinators

func common(d, o Decision) Set { return d.Set().And(o.Set()) }

// former members of d: their incarnation is over in the line of o.
func former(d, o Decision) Set {
	return d.Set().Where(func(m string) bool {
		life, ok := o.Lives[m]
		return ok && d.Lives[m] < life
	})
}

func mayMerge(d, o Decision) bool {
	return len(common(d, o)) == 0 && len(former(d, o)) == 0 && len(former(o, d)) == 0
}

// leftUs: whom this member's view lists, though they follow another, or are another incarnation now.
func (s State) leftUs(coordinator string, other Decision) Set {
	gone := former(s.Decision, other)
	if s.Decision.Set().Has(coordinator) {
		gone = gone.Or(common(s.Decision, other))
	}
	return gone
}

func mergeReqReceived(c Config, s State, e MergeReqReceived) Result {
	id, theirs := e.Message.MergeId, e.Message.Decision
	reject := func(d Decision) group.Effects {
		return group.Effects{group.Send{To: e.Sender, Message: MergeRsp{MergeId: id, Rejected: true, Decision: d}}}
	}
	switch {
	case !group.Is(e.Digest, s.Decision.Set()):
		return group.LocalError(s)
	case !s.coordinates() || s.Merging():
		return group.Handled(s, reject(group.NoDecision))
	case !mayMerge(s.Decision, theirs):
		return group.Handled(s, group.Join(disowned(s.leftUs(e.Sender, theirs)), reject(s.Decision)))
	}
	s.Merge, s.Awaiting, s.Responses = id, nil, nil
	s.Begun++
	return group.Handled(s, group.Join(
		group.Effects{group.PassDown{Event: SuspendViews{}}},
		promised(s.promisedTo()),
		group.Effects{
			group.SetTimer{Name: timerOf(s.Begun), Low: c.MemberTimeout, High: c.MemberTimeout},
			group.Send{To: e.Sender, Message: MergeRsp{MergeId: id, Decision: s.Decision, Digest: e.Digest}},
		}))
}

// chosen are the coordinators whose views are merged: the leader, and then, in the order of addresses, each
// accepting coordinator whose view lists no other answering coordinator and can be merged with the views
// chosen before it.
func (s State) chosen() Set {
	chosen, accepted := Set{s.Member}, group.Keys(s.Responses)
	for _, next := range group.Sorted(accepted.Without(s.Member)) {
		d := s.Responses[next].Decision
		listsAnother := len(d.Set().And(accepted.Without(next))) > 0
		clashes := group.Any(chosen, func(c string) bool { return !mayMerge(s.Responses[c].Decision, d) })
		if !listsAnother && !clashes {
			chosen = chosen.With(next)
		}
	}
	return chosen
}

// greatest entry of each member, of those vectors that have one.
func greatest(vectors []Vector) Vector {
	out := Vector{}
	for _, v := range vectors {
		for m, n := range v {
			if known, ok := out[m]; !ok || n > known {
				out[m] = n
			}
		}
	}
	return out
}

func (s State) mergedView(chosen Set) Merged {
	var members Set
	var lives, digests []Vector
	merged := Merged{Id: group.ViewId{Counter: s.Decision.Id.Counter, Creator: s.Member}}
	for _, c := range chosen {
		d := s.Responses[c].Decision
		members = members.Or(d.Set())
		lives, digests = append(lives, d.Lives), append(digests, s.Responses[c].Digest)
		merged.Follows = merged.Follows.With(d.Id)
		if d.Id.Counter > merged.Id.Counter {
			merged.Id.Counter = d.Id.Counter
		}
	}
	merged.Id.Counter++
	merged.Members = group.Sorted(members)
	merged.Lives = group.LatestLives(greatest(lives), members)
	merged.Digest = greatest(digests)
	return merged
}

// enter installs a merged view. `sent`: what it sends between. `to`: whom it promises nothing any more.
func (s State) enter(m Merged, sent group.Effects, to Set) Result {
	d := Decision{Id: m.Id, Members: m.Members, Follows: s.Decision.Id, Lives: m.Lives, Digest: m.Digest}
	strangers := group.Keys(m.Digest).Minus(s.Decision.Set())
	windows := group.Map(strangers, func(x string) int64 { return m.Digest[x] })
	entered := s.idle().moved(d)
	var left group.Effects
	if s.Merging() {
		left = s.leave(to)
	}
	return group.Handled(entered, group.Join(
		group.Effects{group.PassDown{Event: group.WindowsAdded{Digest: windows}}, group.PassDown{Event: MergeDecided{Decision: d}}},
		sent,
		group.Effects{group.PassUp{Event: group.MergeViewInstalled{View: d.View(), Subgroups: m.Follows}}},
		left,
		entered.followEarly()))
}

func (s State) subgroup() Set { return s.Decision.Set().Without(s.Member) }

// conclude: no answer is awaited any more.
func (s State) conclude() Result {
	chosen := s.chosen()
	if len(chosen) == 1 {
		return group.Handled(s.giveUp())
	}
	merged := s.mergedView(chosen)
	return s.enter(merged, group.Join(
		sendEach(chosen.Without(s.Member), InstallMergeView{MergeId: s.Merge, Merged: merged}),
		sendEach(s.subgroup(), MergeView{Merged: merged}),
		sendEach(s.asked().Minus(chosen), CancelMerge{MergeId: s.Merge})),
		s.promisedTo().Minus(chosen))
}

func mergeRspReceived(s State, e MergeRspReceived) Result {
	c, said := e.Sender, e.Message
	if said.MergeId != s.Merge || !s.Awaiting.Has(c) {
		return group.Ignored(s)
	}
	var before group.Effects
	heard := s
	heard.Awaiting = s.Awaiting.Without(c)
	if said.Rejected {
		before = group.Join(withdrawn(s.promisedTo().And(Set{c})), disowned(s.leftUs(c, said.Decision)))
	} else {
		heard.Responses = group.Noted(s.Responses, c, Response{said.Decision, said.Digest})
	}
	if len(heard.Awaiting) > 0 {
		return group.Handled(heard, before)
	}
	done := heard.conclude()
	return group.Handled(done.State, group.Join(before, done.Effects))
}

func mergeTimeout(s State, e MergeTimeout) Result {
	if !s.Merging() || e.Number != s.Begun {
		return group.Ignored(s)
	}
	return s.conclude()
}

func cancelMergeReceived(s State, e CancelMergeReceived) Result {
	if s.Merge != e.Message.MergeId {
		return group.Ignored(s)
	}
	return group.Handled(s.giveUp())
}

// The merged view arrives

func installMergeViewReceived(s State, e InstallMergeViewReceived) Result {
	merged := e.Message.Merged
	if !merged.Follows.Has(s.Decision.Id) || s.Merge != e.Message.MergeId {
		return group.Ignored(s)
	}
	return s.enter(merged, sendEach(s.subgroup(), MergeView{Merged: merged}), s.promisedTo().Without(e.Sender))
}

func mergeViewReceived(s State, e MergeViewReceived) Result {
	merged := e.Message.Merged
	late := merged.Id.Counter <= s.Decision.Id.Counter
	known := group.Any(s.Early, func(m Merged) bool { return m.Id == merged.Id })
	switch {
	case !s.Merging() && merged.Follows.Has(s.Decision.Id):
		return s.enter(merged, nil, nil)
	case late || known:
		return group.Ignored(s)
	}
	s.Early = group.Appended(s.Early, merged)
	return group.Handled(s, nil)
}

func decisionInstalled(c Config, s State, e DecisionInstalled) Result {
	switch {
	case !e.Decision.Set().Has(s.Member):
		return group.LocalError(s)
	case e.Decision.Id == s.Decision.Id:
		return group.Ignored(s)
	}
	var first group.Effects
	if !s.inView() {
		first = group.Effects{c.DiscoverAgain()}
	}
	over, effects := s.moved(e.Decision).giveUp()
	return group.Handled(over, group.Join(first, effects, over.followEarly()))
}

func earlyTimeout(s State) Result {
	if !s.waits() {
		return group.Ignored(s)
	}
	return s.enter(s.nextEarly()[0], nil, nil)
}

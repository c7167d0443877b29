package sequencer

import "groupcomm.example/port/group"

// mustWait: a coordinator that may not order anything yet.
func (s State) mustWait(c Config) bool { return c.Majority && !s.Formed && s.isCoordinator() }

// hasMajority: more than half of the members of v, or half of them with its coordinator.
func hasMajority(set Set, v group.View) bool {
	n := 2 * len(set.And(v.Set()))
	return n > len(v.Members) || n == len(v.Members) && set.Has(v.Coordinator())
}

// leavers: the coordinator that formed the last view, and left by deciding this one, counts as present.
func (s State) leavers(here Set) Set {
	creator := s.View.Id.Creator
	formedLast := func(m string) bool {
		attempts := s.Reports[m].Attempts
		return len(attempts) == 1 && attempts[0].Coordinator() == creator
	}
	if s.View.Set().Has(creator) || !group.Any(here, formedLast) {
		return Set{}
	}
	return group.SetOf(creator)
}

// isQuorum: of the members that have reported, the most are taken that have a majority of each view that is
// reported among them. At least one of them knows a formed view.
func (s State) isQuorum() bool {
	set := s.View.Set().Where(func(m string) bool {
		report, ok := s.Reports[m]
		return ok && report.ViewId == s.View.Id
	})
	left := s.leavers(set)
	for {
		rest := set.Where(func(m string) bool {
			return !group.Any(s.Reports[m].Attempts, func(v group.View) bool { return !hasMajority(set.Or(left), v) })
		})
		if len(rest) == len(set) {
			return group.Any(set, func(m string) bool { return len(s.Reports[m].Attempts) > 0 })
		}
		set = rest
	}
}

// since: the reports of views with this counter or a higher one.
func since(reports map[string]Report, counter int64) map[string]Report {
	out := map[string]Report{}
	for m, report := range reports {
		if report.ViewId.Counter >= counter {
			out[m] = report
		}
	}
	return out
}

// inFormed: the state of a member that hears that its view is formed.
func (s State) inFormed() State {
	s.Formed, s.Attempts = true, []group.View{s.View}
	s.Reports = since(s.Reports, s.View.Id.Counter+1)
	return s
}

// founds: the member creates its first view, of itself alone.
func (s State) founds() bool {
	return len(s.View.Members) == 1 && s.View.Id.Creator == s.Member && s.View.Id == s.Epoch
}

// forms: a coordinator that waits forms its view, if it has the reports for it, or founds the group by it.
func (s State) forms() (State, group.Effects) {
	if !s.founds() && !s.isQuorum() {
		return s, nil
	}
	s = s.inFormed()
	s.Early = s.later(s.Early)
	return s, group.Effects{
		group.Multicast{Message: Formed{ViewId: s.View.Id}},
		group.PassUp{Event: ViewFormed{ViewId: s.View.Id}},
	}
}

// reported: s has entered its view from the state before, and says what views it knew: none, while it knows no
// formed one.
func (s State) reported(before State) (State, group.Effects) {
	own := Report{ViewId: s.View.Id, Attempts: before.Attempts}
	s.Formed = false
	if len(before.Attempts) > 0 {
		s.Attempts = group.Appended(before.Attempts, s.View)
	}
	s.Reports = since(s.Reports, s.View.Id.Counter)
	if !s.isCoordinator() {
		return s, group.Effects{group.Send{To: s.View.Coordinator(), Message: own}}
	}
	s.Reports = group.Noted(s.Reports, s.Member, own)
	s.Early = group.Select(before.Early, func(f Forward) bool {
		return f.ViewId == s.View.Id || f.ViewId.Counter > s.View.Id.Counter
	})
	return s.forms()
}

func reportReceived(c Config, s State, e ReportReceived) Result {
	id, early := e.Message.ViewId, s.Early
	noted := s
	noted.Reports = group.Noted(s.Reports, e.Sender, e.Message)
	switch {
	case !c.Majority:
		return group.RemoteError(s)
	case id.Counter > s.View.Id.Counter:
		return group.Handled(noted, nil)
	case id != s.View.Id:
		return group.Ignored(s)
	case !s.isCoordinator() || !s.View.Set().Has(e.Sender):
		return group.RemoteError(s)
	case s.Formed:
		return group.Ignored(s)
	}
	after, effects := noted.forms()
	if after.Formed {
		effects = group.Join(effects, after.resent(), after.due(early))
	}
	return group.Handled(after, effects)
}

func formedReceived(c Config, s State, e FormedReceived) Result {
	id := e.Message.ViewId
	switch {
	case !c.Majority || !s.joined() || id.Counter > s.View.Id.Counter:
		return group.RemoteError(s)
	case id != s.View.Id:
		return group.Ignored(s)
	case e.Sender != s.View.Coordinator():
		return group.RemoteError(s)
	case s.Formed:
		return group.Ignored(s)
	}
	return group.Handled(s.inFormed(), group.Effects{group.PassUp{Event: ViewFormed{ViewId: id}}})
}

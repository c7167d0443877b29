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

// countsAs: a member with this record counts as an address of its name, since the last incarnation of that name that
// is in the record's formed view.
func countsAs(member string, record []group.View, other string) bool {
	if other == member {
		return true
	}
	if len(record) == 0 || !group.IsFormer(other, member) {
		return false
	}
	own := record[0].Set().Where(func(m string) bool { return m == member || group.IsFormer(m, member) })
	return len(own) > 0 && !group.Any(own, func(m string) bool {
		isLast := !group.Any(own, func(x string) bool { return group.IsFormer(m, x) })
		return isLast && group.IsFormer(other, m)
	})
}

// counted: the members of v as which those of set count.
func (s State) counted(set Set, v group.View) Set {
	return v.Set().Where(func(a string) bool {
		return group.Any(set, func(m string) bool { return countsAs(m, s.Reports[m].Attempts, a) })
	})
}

// asked: the views that m reports and of which a majority is needed, if those of set are right.
func (s State) asked(set Set, m string) []group.View {
	list := s.Reports[m].Attempts
	last := 0
	for i, v := range list {
		formed := func(x string) bool {
			record := s.Reports[x].Attempts
			return len(record) > 0 && record[0].Equal(v)
		}
		if group.Any(set, formed) {
			last = i
		}
	}
	if len(list) == 0 {
		return nil
	}
	return group.Select(list[last:], func(v group.View) bool {
		return !group.Any(set, func(x string) bool {
			record := s.Reports[x].Attempts
			return len(record) > 0 && !record[0].Equal(v) && countsAs(x, record, v.Coordinator())
		})
	})
}

// isQuorum: of the members that have reported, the most are taken that have a majority of each view that is
// asked for among them. At least one of them knows a formed view.
func (s State) isQuorum() bool {
	set := s.View.Set().Where(func(m string) bool {
		report, ok := s.Reports[m]
		return ok && report.ViewId == s.View.Id
	})
	left := s.leavers(set)
	for {
		rest := set.Where(func(m string) bool {
			return !group.Any(s.asked(set, m), func(v group.View) bool { return !hasMajority(s.counted(set, v).Or(left), v) })
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
	return s.Founds && len(s.View.Members) == 1 && s.View.Id.Creator == s.Member && s.View.Id == s.Epoch
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
		group.PassUp{Event: group.ViewFormed{ViewId: s.View.Id}},
	}
}

// kept: the record without the views that this member coordinated and did not form.
func (s State) kept() []group.View {
	var out []group.View
	for i, v := range s.Attempts {
		if i == 0 || !countsAs(s.Member, s.Attempts, v.Coordinator()) {
			out = append(out, v)
		}
	}
	return out
}

// restored: an incarnation begins with the record of the former ones, and founds no group.
func restored(c Config, s State, e Restored) Result {
	if !c.Majority || s.joined() || !s.Founds {
		return group.LocalError(s)
	}
	s.Founds, s.Attempts = false, e.Attempts
	return group.Handled(s, nil)
}

// reported: s has entered its view from the state before, and says what views it knew: none, while it knows no
// formed one. With a full record it helps to form no view.
func (s State) reported(c Config, before State) (State, group.Effects) {
	own := Report{ViewId: s.View.Id, Attempts: before.Attempts}
	s.Formed = false
	s.Attempts = before.kept()
	full := int64(len(s.Attempts)) >= c.MaxAttempts
	if len(s.Attempts) > 0 && !full {
		s.Attempts = group.Appended(s.Attempts, s.View)
	}
	s.Reports = since(s.Reports, s.View.Id.Counter)
	if !s.isCoordinator() {
		if full {
			return s, nil
		}
		return s, group.Effects{group.Send{To: s.View.Coordinator(), Message: own}}
	}
	if !full {
		s.Reports = group.Noted(s.Reports, s.Member, own)
	}
	s.Early = group.Select(before.Early, func(f Forward) bool {
		return f.ViewId == s.View.Id || f.ViewId.Counter > s.View.Id.Counter
	})
	if full {
		return s, nil
	}
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
	return group.Handled(s.inFormed(), group.Effects{group.PassUp{Event: group.ViewFormed{ViewId: id}}})
}

// Who may be primary: spec/sequencer/Primary.tla, which has the theory.

package sequencer

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

// Config: with Majority a view without a majority of the last one delivers nothing.
type Config struct {
	Majority    bool  `wire:"Majority"`
	MaxAttempts int64 `wire:"MaxAttempts"`
}

type (
	// Record: the last formed view that a member knows, and the views that it has installed since.
	Record = []group.View
	// Records of the members that have reported.
	Records = map[string]Record

	// Report: its sender has installed a view; its record before that.
	Report struct {
		_        wire.Tag `wire:"REPORT"`
		ViewId   group.ViewId
		Attempts Record
	}
	// Formed: the coordinator orders from now on.
	Formed struct {
		_      wire.Tag `wire:"FORMED"`
		ViewId group.ViewId
		Before int64
	}
	ReportReceived struct {
		_       wire.Tag `wire:"ReportReceived"`
		Sender  string
		Message Report
	}
	FormedReceived struct {
		_       wire.Tag `wire:"FormedReceived"`
		Sender  string
		Message Formed
	}
	// Restored: this incarnation begins with the record of the former ones.
	Restored struct {
		_        wire.Tag `wire:"Restored"`
		Attempts Record
	}
)

// mustWait: a coordinator that may not order anything yet.
func (s State) mustWait(c Config) bool { return c.Majority && !s.Formed && s.isCoordinator() }

// hasMajority: more than half of the members of v, or half of them with its coordinator.
func hasMajority(set Set, v group.View) bool {
	n := 2 * len(set.And(v.Set()))
	return n > len(v.Members) || n == len(v.Members) && set.Has(v.Coordinator())
}

// countsAs: a member with this record counts as an address of its name.
func countsAs(member string, record Record, other string) bool {
	if other == member {
		return true
	}
	if len(record) == 0 || !group.IsFormer(other, member) {
		return false
	}
	had := record[0].Set().Where(func(m string) bool { return m == member || group.IsFormer(m, member) })
	return len(had) > 0 && !group.Any(had, func(m string) bool { return group.IsFormer(other, m) })
}

// counted: the members of v as which those count that have reported.
func counted(records Records, v group.View) Set {
	return v.Set().Where(func(a string) bool {
		return group.Any(group.Keys(records), func(m string) bool { return countsAs(m, records[m], a) })
	})
}

// isReportedFormed: some member reports v as the last formed view.
func isReportedFormed(records Records, v group.View) bool {
	return group.Any(group.Keys(records), func(m string) bool { return len(records[m]) > 0 && records[m][0].Equal(v) })
}

// isAbandoned: the coordinator of v reports another view as the last formed one.
func isAbandoned(records Records, v group.View) bool {
	return group.Any(group.Keys(records), func(m string) bool {
		return len(records[m]) > 0 && !records[m][0].Equal(v) && countsAs(m, records[m], v.Coordinator())
	})
}

// asked: the views of m's record of which a majority is needed.
func asked(records Records, m string) []group.View {
	record, last := records[m], 0
	for i, v := range record {
		if isReportedFormed(records, v) {
			last = i
		}
	}
	if len(record) == 0 {
		return nil
	}
	return group.Select(record[last:], func(v group.View) bool { return !isAbandoned(records, v) })
}

// quorum: the records of the most members that, with left, have a majority of each view that is asked for among them.
func quorum(records Records, left Set) Records {
	served := group.Keys(records).Where(func(m string) bool {
		return !group.Any(asked(records, m), func(v group.View) bool { return !hasMajority(counted(records, v).Or(left), v) })
	})
	if len(served) == len(records) {
		return records
	}
	return quorum(group.Map(served, func(m string) Record { return records[m] }), left)
}

// leavers: the coordinator that formed the last view, and left by deciding v, counts as present. A joiner that begins
// again may know an earlier view that it has formed.
func leavers(records Records, v group.View) Set {
	formedLast := func(m string) bool {
		return len(records[m]) == 1 && records[m][0].Set().Has(m) && records[m][0].Coordinator() == v.Id.Creator
	}
	if v.Set().Has(v.Id.Creator) || !group.Any(group.Keys(records), formedLast) {
		return Set{}
	}
	return group.SetOf(v.Id.Creator)
}

// isQuorum: at least one of the quorum knows a formed view.
func isQuorum(records Records, v group.View) bool {
	records = quorum(records, leavers(records, v))
	return group.Any(group.Keys(records), func(m string) bool { return len(records[m]) > 0 })
}

// before: the counter of the last formed view that those know which form v; 0: none.
func baseOf(records Records, v group.View) int64 {
	var last int64
	for _, record := range quorum(records, leavers(records, v)) {
		if len(record) > 0 && record[0].Id.Counter > last {
			last = record[0].Id.Counter
		}
	}
	if last >= v.Id.Counter { // all members have begun again, and views count anew
		return 0
	}
	return last
}

// recordsOf: the records of the members that have installed the view of s, as they have reported.
func (s State) recordsOf() Records {
	here := s.View.Set().Where(func(m string) bool {
		report, ok := s.Reports[m]
		return ok && report.ViewId == s.View.Id
	})
	return group.Map(here, func(m string) Record { return s.Reports[m].Attempts })
}

// founds: the member creates its first view, of itself alone.
func (s State) founds() bool {
	return s.Founds && len(s.View.Members) == 1 && s.View.Id.Creator == s.Member && s.View.Id == s.Epoch
}

func (s State) mayForm() bool { return s.founds() || isQuorum(s.recordsOf(), s.View) }

// kept: the record without the views that this member coordinated and did not form.
func (s State) kept() Record {
	var out Record
	for i, v := range s.Attempts {
		if i == 0 || !countsAs(s.Member, s.Attempts, v.Coordinator()) {
			out = append(out, v)
		}
	}
	return out
}

// isFull: the record has no room for another view.
func (s State) isFull(c Config) bool { return int64(len(s.kept())) >= c.MaxAttempts }

// attempted: the record of s when it has installed v.
func (s State) attempted(c Config, v group.View) Record {
	if len(s.Attempts) == 0 || s.isFull(c) {
		return s.kept()
	}
	return group.Appended(s.kept(), v)
}

// reportsFrom: the reports of views with this counter, or a higher one.
func reportsFrom(reports map[string]Report, counter int64) map[string]Report {
	out := map[string]Report{}
	for m, report := range reports {
		if report.ViewId.Counter >= counter {
			out[m] = report
		}
	}
	return out
}

// knowsFormed: it has heard that its view is formed.
func (s State) knowsFormed() bool { return len(s.Attempts) == 1 && s.Attempts[0].Equal(s.View) }

// inFormed: the state of a member that hears that its view is formed.
func (s State) inFormed() State {
	s.Formed, s.Attempts = true, Record{s.View}
	s.Reports = reportsFrom(s.Reports, s.View.Id.Counter+1)
	return s
}

// forms: a coordinator that waits has its view formed, if it may. It hears FORMED as others do.
func (s State) forms() (State, group.Effects) {
	if !s.mayForm() {
		return s, nil
	}
	last := baseOf(s.recordsOf(), s.View)
	s.Formed, s.Reports = true, reportsFrom(s.Reports, s.View.Id.Counter+1)
	return s, group.Effects{group.Multicast{Message: Formed{ViewId: s.View.Id, Before: last}}}
}

// attempt: s has come from the state before to its view. It reports its record, as it was.
func (s State) attempt(c Config, before State) (State, group.Effects) {
	if !c.Majority {
		return s, nil
	}
	own := Report{ViewId: s.View.Id, Attempts: before.Attempts}
	s.Formed, s.Attempts = false, before.attempted(c, s.View)
	s.Reports = reportsFrom(s.Reports, s.View.Id.Counter)
	switch {
	case before.isFull(c):
		return s, nil
	case s.isCoordinator():
		s.Reports = group.Noted(s.Reports, s.Member, own)
		return s.forms()
	}
	return s, group.Effects{group.Send{To: s.View.Coordinator(), Message: own}}
}

// isRecord: its views have members, and so coordinators.
func isRecord(record []group.View) bool {
	for _, view := range record {
		if len(view.Members) == 0 {
			return false
		}
	}
	return true
}

func reportReceived(c Config, s State, e ReportReceived) Result {
	id, noted := e.Message.ViewId, s
	noted.Reports = group.Noted(s.Reports, e.Sender, e.Message)
	switch {
	case !c.Majority || !isRecord(e.Message.Attempts):
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
	return group.Handled(noted.forms())
}

func formedReceived(c Config, s State, e FormedReceived) Result {
	id := e.Message.ViewId
	switch {
	case !c.Majority || !s.joined() || id.Counter > s.View.Id.Counter:
		return group.RemoteError(s)
	case e.Message.Before < 0 || e.Message.Before >= id.Counter:
		return group.RemoteError(s)
	case id != s.View.Id:
		return group.Ignored(s)
	case e.Sender != s.View.Coordinator():
		return group.RemoteError(s)
	case s.knowsFormed():
		return group.Ignored(s)
	}
	return group.Handled(s.inFormed(), group.Effects{group.PassUp{Event: group.ViewFormed{ViewId: id, Before: e.Message.Before}}})
}

// restored: an incarnation begins with the record of the former ones, and founds no group.
func restored(c Config, s State, e Restored) Result {
	if !c.Majority || s.joined() || !s.Founds || !isRecord(e.Attempts) {
		return group.LocalError(s)
	}
	s.Founds, s.Attempts = false, e.Attempts
	return group.Handled(s, nil)
}

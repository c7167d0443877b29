package statetransfer

import "groupcomm.example/port/group"

// Views, and which state is kept where they merge.

// nameAfter is the name of the state that a member leaves its view with.
func (s State) nameAfter() []group.ViewId {
	switch {
	case !s.Has && !s.Marked:
		return nil
	case s.Settled:
		return []group.ViewId{s.View.Id}
	}
	return group.Appended(s.Name, s.View.Id)
}

// isFormed: its view is formed, as far as it knows.
func (s State) isFormed() bool { return s.joined() && s.Formed == s.View.Id.Counter }

// stands: its view is formed. Its state stands there, if it stood in the base. A view that follows a vacant one without a
// merge is vacant.
func (s State) stands() State {
	switch {
	case !s.isFormed():
	case s.Vacant:
		if s.Upto != s.Base {
			s.After = s.Base
		}
		s.Upto = s.Formed
	case s.Stood >= s.Base:
		s.Stood = s.Formed
	}
	return s
}

// isStale: all states are one, and not that of the primary.
func (s State) isStale() bool { return s.isFormed() && s.Settled && s.Has && s.Stood < s.Base }

// begins a choice of the state that is kept.
func (s State) begins() State {
	t := s.idle()
	switch {
	case !s.Has:
		t.Name = nil
	case s.Settled:
		t.Name = []group.ViewId{s.View.Id}
	}
	t.Settled, t.Vacant, t.Telling, t.Told = false, false, true, nil
	return t
}

// vacates: its view has no state of the primary.
func (s State) vacates() State {
	t := s.begins()
	t.Telling, t.Vacant = s.Declares, true
	return t.stands()
}

// tell multicasts the standing of a member in its view.
func (s State) tell() group.Effect {
	standing := Standing{Stood: s.Stood, Declared: s.Declared || s.Declares, After: s.After, Upto: s.Upto}
	if s.Has {
		standing.Name = s.Name
	}
	return group.Multicast{Message: Tell{ViewId: s.View.Id, Standing: standing}}
}

// wanted is the last formed view before this one that was not vacant.
func wanted(s State, told map[string]Standing) int64 {
	if !s.isFormed() {
		return 0
	}
	last, before := s.Base, s.Base+1
	for last < before {
		before = last
		for _, each := range told {
			if each.After < last && last <= each.Upto {
				last = each.After
			}
		}
	}
	if last < 0 {
		return 0
	}
	return last
}

// tellers has the members that told this name.
func tellers(told map[string]Standing, name []group.ViewId) Set {
	return group.Keys(told).Where(func(m string) bool { return group.Same(told[m].Name, name) })
}

// keptBy has the members with the state that is kept. Of two states with equal rank it is that of the more senior member.
// Where no member has a state, it is the first member that declares one.
func keptBy(s State, told map[string]Standing) Set {
	list := group.SetOf(s.View.Members...)
	named := list.Where(func(m string) bool { return len(told[m].Name) > 0 })
	declarers := list.Where(func(m string) bool { return told[m].Declared })
	last := wanted(s, told)
	kept := named.Minus(declarers).Where(func(m string) bool { return told[m].Stood >= last })
	if len(kept) == 0 && len(declarers) > 0 {
		if kept = named.Minus(declarers); len(kept) == 0 {
			kept = named
		}
	}
	switch {
	case len(kept) == 0 && len(declarers) == 0:
		return nil
	case len(kept) == 0:
		return declarers[:1]
	}
	best := kept[0]
	for _, m := range kept {
		a, b := told[m], told[best]
		if a.Stood > b.Stood || a.Stood == b.Stood && len(tellers(told, a.Name)) > len(tellers(told, b.Name)) {
			best = m
		}
	}
	return tellers(told, told[best].Name)
}

// freed: this member stops to provide some, in the order of its view.
func freed(s State, gone Set) group.Effects {
	var effects group.Effects
	for _, m := range s.View.Members {
		if gone.Has(m) && group.In(m, s.Giving) {
			effects = group.Join(effects, up(FreeState{To: m}))
		}
	}
	return effects
}

// decided: all have told. Members without the kept state lack it from here on, and ask. If none is kept, the view is vacant.
func decided(s State, told map[string]Standing) Result {
	holders, last := keptBy(s, told), wanted(s, told)
	done := s
	done.Told, done.Telling, done.Declares = told, false, false
	if len(holders) == 0 {
		done.Vacant = true
		if s.isFormed() {
			done.After, done.Upto = last, s.Formed
		}
		return group.Handled(done, up(NoState{}))
	}
	done.Settled, done.Refused = true, nil
	if s.isFormed() {
		done.Stood = s.Formed
	}
	isBased := group.Any(holders, func(m string) bool { return told[m].Stood >= last })
	switch {
	case holders.Has(s.Member) && s.Has && (s.Declared || isBased):
		return group.Handled(done, up(StateKept{}))
	case holders.Has(s.Member):
		done.Has, done.Declared = true, true
		return group.Handled(done, up(StateDeclared{}))
	case s.Marked && holders.Has(s.Provider) && group.Same(told[s.Provider].Name, s.Name): // that state comes
		return installIfWhole(done, nil)
	}
	effects := freed(s, group.Keys(s.Giving))
	if s.Has {
		effects = group.Join(effects, up(StateDropped{}))
	}
	done.Has, done.Declared, done.Refused, done.Giving = false, false, group.Keys(told).Minus(holders), nil
	return askSoon(done, effects)
}

// joins: a TELL begins a choice at a member that does not know of one.
func (s State) joins() State {
	t := s.begins()
	t.Owes, t.Soon = !s.Telling, s.Soon || !s.Telling
	return t
}

func tellReceived(s State, e TellReceived) Result {
	switch {
	case e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !s.isMember(e.Sender):
		return group.RemoteError(s)
	case !s.Settled && !s.Vacant && group.In(e.Sender, s.Told):
		return group.Ignored(s)
	}
	heard := s
	told := group.Noted(s.Told, e.Sender, e.Message.Standing)
	var room, tells group.Effects
	if s.Settled || s.Vacant {
		heard, told = s.joins(), group.Noted(nil, e.Sender, e.Message.Standing)
		room = s.makesRoom()
		if !s.Telling {
			tells = s.setsSoon()
		}
	}
	heard.Told, heard.Telling = told, heard.Telling && e.Sender != s.Member
	if group.Is(told, s.View.Set()) {
		r := decided(heard, told)
		effects := group.Join(room, r.Effects)
		if r.State.Settled && s.Safe > 0 {
			r.State, effects = r.State.says(s.Safe), group.Join(effects, up(group.SafeUpTo{Number: s.Safe}))
		}
		return group.Handled(r.State, effects)
	}
	return group.Handled(heard, group.Join(room, tells))
}

// soonTimeout: it is time to multicast what a message of the order has caused.
func soonTimeout(c Config, s State) Result {
	if !s.Soon {
		return group.Ignored(s)
	}
	owes := s.Owes
	s.Soon, s.Owes = false, false
	switch {
	case owes:
		return group.Handled(s, group.Effects{s.tell()})
	case s.waits():
		return ask(c, s, nil)
	}
	return group.Handled(s, nil)
}

// declareRequested: the application declares its own state where no member gives one.
func declareRequested(s State) Result {
	if !s.joined() || s.Declares || !s.Vacant && !s.waits() {
		return group.LocalError(s)
	}
	s.Declares, s.Telling = true, true
	if !s.Has {
		s.Name = nil
	}
	return group.Handled(s, group.Effects{s.tell()})
}

// says: the own multicasts up to n are reported.
func (s State) says(n int64) State {
	s.Said, s.Safe = n, 0
	return s
}

// safeUpTo: what is safe is told when it is decided which state is kept.
func safeUpTo(s State, e group.SafeUpTo) Result {
	switch {
	case e.Number <= s.Said:
		return group.Ignored(s)
	case s.Settled:
		return group.Handled(s.says(e.Number), up(e))
	}
	s.Safe = e.Number
	return group.Handled(s, nil)
}

// unknownUpTo: what waits counts as unknown, too.
func unknownUpTo(s State, e group.UnknownUpTo) Result {
	if e.Number <= s.Said {
		return group.Ignored(s)
	}
	return group.Handled(s.says(e.Number), up(e))
}

func viewInstalled(c Config, s State, view group.View, merged bool) Result {
	now := view.Set()
	if !now.Has(s.Member) || view.Id.Counter <= s.View.Id.Counter {
		return group.LocalError(s)
	}
	isAlone := len(now) == 1
	vacant := s.Vacant && !merged
	unsettled := !isAlone && !vacant && (merged || !s.Settled)
	t := s
	t.View, t.Has, t.Name = view, s.Has || isAlone && !s.joined(), s.nameAfter()
	t.Settled, t.Vacant = !unsettled && !vacant, vacant
	t.Seen = group.LatestLives(s.Seen, now)
	t.Telling, t.Owes, t.Declares, t.Told, t.Refused = unsettled, false, false, nil, nil
	t.Giving = map[string]Gift{}
	for m, gift := range s.Giving {
		if now.Has(m) {
			t.Giving[m] = gift
		}
	}
	t = t.stands()
	var unknown group.Effects
	if !s.Settled && s.Came > s.Said { // SAFE may yet tell of these
		unknown = up(group.UnknownUpTo{Number: s.Came})
		t.Said = s.Came
	}
	t.Safe = 0
	effects := group.Join(unknown, freed(s, group.Keys(s.Giving).Minus(now)))
	stays := now.Has(s.Provider) && (!unsettled || s.Marked)
	switch {
	case unsettled && stays:
		return group.Handled(t, append(effects, t.tell()))
	case unsettled:
		t = t.idle()
		return group.Handled(t, append(group.Join(effects, s.makesRoom()), t.tell()))
	case t.isStale():
		return group.Handled(t.vacates(), group.Join(effects, up(NoState{})))
	case t.Has && t.Settled && !(s.Has && s.Settled): // it founds a group, or is alone where a choice was open
		return group.Handled(t.idle(), append(effects, up(StateKept{})...))
	case t.Has || vacant:
		return group.Handled(t.idle(), effects)
	case stays:
		return group.Handled(t, effects)
	}
	return ask(c, t, effects)
}

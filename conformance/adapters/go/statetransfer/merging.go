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

// stoodAfter is the last formed view whose state a member has that leaves its view.
func (s State) stoodAfter() int64 {
	if counter := s.View.Id.Counter; s.Settled && (counter == s.Formed || counter == s.FormedBefore) {
		return counter
	}
	return s.Stood
}

// tell multicasts the standing of a member in its view.
func (s State) tell() group.Effect {
	standing := Standing{Formed: s.Stood, Declared: s.Declares}
	if s.Has {
		standing.Name, standing.Declared = s.Name, s.Declared
	}
	return group.Multicast{Message: Tell{ViewId: s.View.Id, Standing: standing}}
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
	switch {
	case len(named) == 0 && len(declarers) == 0:
		return nil
	case len(named) == 0:
		return declarers[:1]
	}
	if grown := named.Minus(declarers); len(grown) > 0 {
		named = grown
	}
	best := named[0]
	for _, m := range named {
		a, b := told[m], told[best]
		if a.Formed > b.Formed || a.Formed == b.Formed && len(tellers(told, a.Name)) > len(tellers(told, b.Name)) {
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

// decided: all have told. Members without the kept state lack it from here on, and ask.
func decided(s State, told map[string]Standing) Result {
	holders := keptBy(s, told)
	done := s
	done.Told, done.Settled, done.Telling, done.Declares, done.Refused = told, true, false, false, nil
	switch {
	case holders.Has(s.Member) && s.Has:
		return group.Handled(done, nil)
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
	t := s.idle()
	t.Settled, t.Name, t.Telling, t.Owes, t.Soon = false, nil, true, !s.Telling, s.Soon || !s.Telling
	if s.Has {
		t.Name = []group.ViewId{s.View.Id}
	}
	return t
}

func tellReceived(s State, e TellReceived) Result {
	switch {
	case e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !s.isMember(e.Sender):
		return group.RemoteError(s)
	case !s.Settled && group.In(e.Sender, s.Told):
		return group.Ignored(s)
	}
	heard := s
	told := group.Noted(s.Told, e.Sender, e.Message.Standing)
	var room, tells group.Effects
	if s.Settled {
		heard, told = s.joins(), group.Noted(nil, e.Sender, e.Message.Standing)
		room = s.makesRoom()
		if !s.Telling {
			tells = s.setsSoon()
		}
	}
	heard.Told, heard.Telling = told, heard.Telling && e.Sender != s.Member
	if group.Is(told, s.View.Set()) {
		r := decided(heard, told)
		return group.Handled(r.State, group.Join(room, r.Effects))
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
	if !s.joined() || !s.waits() {
		return group.LocalError(s)
	}
	s.Declares, s.Telling, s.Name = true, true, nil
	return group.Handled(s, group.Effects{s.tell()})
}

func viewInstalled(c Config, s State, view group.View, merged bool) Result {
	now := view.Set()
	if !now.Has(s.Member) || view.Id.Counter <= s.View.Id.Counter {
		return group.LocalError(s)
	}
	isAlone := len(now) == 1
	unsettled := !isAlone && (merged || !s.Settled)
	t := s
	t.View, t.Has, t.Name, t.Settled = view, s.Has || isAlone && !s.joined(), s.nameAfter(), !unsettled
	t.Stood = s.stoodAfter()
	t.Seen = group.LatestLives(s.Seen, now)
	t.Telling, t.Owes, t.Declares, t.Told, t.Refused = unsettled, false, false, nil, nil
	t.Giving = map[string]Gift{}
	for m, gift := range s.Giving {
		if now.Has(m) {
			t.Giving[m] = gift
		}
	}
	effects := freed(s, group.Keys(s.Giving).Minus(now))
	stays := now.Has(s.Provider) && (!unsettled || s.Marked)
	switch {
	case unsettled && stays:
		return group.Handled(t, append(effects, t.tell()))
	case unsettled:
		t = t.idle()
		return group.Handled(t, append(group.Join(effects, s.makesRoom()), t.tell()))
	case t.Has:
		return group.Handled(t.idle(), effects)
	case stays:
		return group.Handled(t, effects)
	}
	return ask(c, t, effects)
}

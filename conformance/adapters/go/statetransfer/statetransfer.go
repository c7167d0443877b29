package statetransfer

import "groupcomm.example/port/group"

// Start is a member before its first view.
func Start(member string) State { return State{Member: member, Settled: true} }

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	r := step(c, s, event)
	if sender, is := ofTheOrder(event); is && sender == s.Member && r.Outcome != group.REMOTE_ERROR {
		r.State.Came++ // whatever it does
		return group.Handled(r.State, r.Effects)
	}
	return r
}

// ofTheOrder has the sender of a multicast.
func ofTheOrder(event Event) (string, bool) {
	switch e := event.(type) {
	case AppReceived:
		return e.Sender, true
	case AskReceived:
		return e.Sender, true
	case TellReceived:
		return e.Sender, true
	}
	return "", false
}

func step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case SendRequested:
		return sendRequested(s, e)
	case AppReceived:
		return appReceived(c, s, e)
	case AskReceived:
		return askReceived(c, s, e)
	case TellReceived:
		return tellReceived(s, e)
	case PartRead:
		return partRead(s, e)
	case PartFailed:
		return partFailed(s, e)
	case PartReceived:
		return partReceived(s, e)
	case CreditReceived:
		return creditReceived(c, s, e)
	case CannotReceived:
		return cannotReceived(c, s, e)
	case AskTimeout:
		return askTimeout(c, s)
	case SoonTimeout:
		return soonTimeout(c, s)
	case DeclareRequested:
		return declareRequested(s)
	case group.SafeUpTo:
		return safeUpTo(s, e)
	case group.UnknownUpTo:
		return unknownUpTo(s, e)
	case group.ViewFormed:
		return viewFormed(s, e)
	case group.ViewInstalled:
		return viewInstalled(c, s, e.View, false)
	case group.MergeViewInstalled:
		return viewInstalled(c, s, e.View, true)
	}
	panic("no event of STATE_TRANSFER")
}

func (s State) joined() bool           { return !s.View.Equal(group.NoView) }
func (s State) isMember(m string) bool { return group.Index(s.View.Members, m) >= 0 }

func up(event any) group.Effects { return group.Effects{group.PassUp{Event: event}} }

func isNew(seen Seen, sender string, number int64) bool {
	return !group.In(sender, seen) || number > seen[sender]
}

// idle: no transfer to this member.
func (s State) idle() State {
	s.Provider, s.Marked, s.Parts, s.Whole, s.Given = "", false, 0, false, Given{}
	s.Held, s.Bytes, s.Full = nil, 0, false
	return s
}

// makesRoom: it takes multicasts again.
func (s State) makesRoom() group.Effects {
	if s.Full {
		return up(Room{})
	}
	return nil
}

// waits: nobody is asked, and one could be.
func (s State) waits() bool { return !s.Has && s.Settled && s.Provider == "" && !s.Declares }

// ask asks the first member of the view that may have the state.
func ask(c Config, s State, before group.Effects) Result {
	effects := group.Join(before, s.makesRoom())
	t := s.idle()
	for _, m := range s.View.Members {
		if m != s.Member && !s.Refused.Has(m) {
			t.Attempt++
			t.Provider = m
			return group.Handled(t, append(effects, group.Multicast{Message: Ask{Provider: m, Attempt: t.Attempt}}))
		}
	}
	if s.isFormed() && len(s.Told) == 0 && len(s.View.Members) > 1 { // it may be vacant
		t = s.begins()
		return group.Handled(t, append(effects, t.tell()))
	}
	effects = group.Join(effects, up(NoState{}))
	if s.isFormed() && len(s.Told) == 0 {
		return group.Handled(s.vacates(), effects)
	}
	if !s.Timer {
		effects = append(effects, group.SetTimer{Name: "ask", Low: c.AskTime, High: c.AskTime})
	}
	t.Timer = true
	return group.Handled(t, effects)
}

func (s State) setsSoon() group.Effects {
	if s.Soon {
		return nil
	}
	return group.Effects{group.SetTimer{Name: "soon"}}
}

// askSoon asks in a step of its own.
func askSoon(s State, before group.Effects) Result {
	t := s.idle()
	t.Soon = true
	return group.Handled(t, group.Join(before, s.makesRoom(), s.setsSoon()))
}

// stop: no transfer, until it is decided which state is kept.
func stop(s State) Result { return group.Handled(s.idle(), s.makesRoom()) }

// installIfWhole sets the state if it is whole, the cut is known, and no other is to be chosen. The held messages follow.
func installIfWhole(s State, before group.Effects) Result {
	if !s.Whole || !s.Settled || !s.Marked {
		return group.Handled(s, before)
	}
	seen := s.Given.Seen
	effects := group.Join(before, up(StateSet{}))
	if group.In(s.Member, seen) && isNew(s.Seen, s.Member, seen[s.Member]) {
		effects = group.Join(effects, up(OwnIsInState{Number: seen[s.Member]}))
	}
	for _, x := range s.Held {
		if isNew(seen, x.Sender, x.Number) {
			seen = group.Noted(seen, x.Sender, x.Number)
			effects = group.Join(effects, up(group.Deliver{Sender: x.Sender, Payload: x.Payload}))
		}
	}
	t := s.idle()
	t.Has, t.Seen, t.Declared, t.Refused = true, seen, s.Given.Declared, nil
	return group.Handled(t, group.Join(effects, s.makesRoom()))
}

func (s State) isPresent(sender string, attempt int64) bool {
	return !s.Has && sender == s.Provider && attempt == s.Attempt
}

func sendRequested(s State, e SendRequested) Result {
	if !s.joined() || !s.Has || s.Vacant {
		return group.LocalError(s)
	}
	s.Sent++
	return group.Handled(s, group.Effects{group.Multicast{Message: App{Number: s.Sent, Size: e.Size, Payload: e.Payload}}})
}

func appReceived(c Config, s State, e AppReceived) Result {
	number, payload := e.Message.Number, e.Message.Payload
	switch {
	case !s.isMember(e.Sender) || number < 1 || e.Message.Size < 1:
		return group.RemoteError(s)
	case s.Has && !isNew(s.Seen, e.Sender, number):
		return group.Ignored(s)
	case s.Has:
		s.Seen = group.Noted(s.Seen, e.Sender, number)
		return group.Handled(s, up(group.Deliver{Sender: e.Sender, Payload: payload}))
	case s.Provider == "" || !s.Marked:
		return group.Ignored(s)
	case s.Bytes >= c.MaxHeld && s.Settled:
		return askSoon(s, nil)
	case s.Bytes >= c.MaxHeld:
		return stop(s)
	}
	var effects group.Effects
	s.Bytes += e.Message.Size
	if !s.Full && s.Bytes >= c.FullAt {
		effects = up(Full{})
		s.Full = true
	}
	s.Held = group.Appended(s.Held, Held{e.Sender, number, payload})
	return group.Handled(s, effects)
}

// provide: the state is marked here, and the first part is read.
func provide(c Config, s State, asker string, attempt int64) Result {
	switch {
	case !s.Settled && !s.Vacant:
		return group.Ignored(s)
	case !s.Has || s.Vacant:
		return group.Handled(s, group.Effects{group.Send{To: asker, Message: Cannot{Attempt: attempt}}})
	}
	s.Giving = group.Noted(s.Giving, asker, Gift{Attempt: attempt, Number: 1, Credit: c.Window, Seen: s.Seen})
	return group.Handled(s, group.Join(up(MarkState{To: asker, Attempt: attempt}),
		up(ReadPart{To: asker, Attempt: attempt, Number: 1})))
}

func askReceived(c Config, s State, e AskReceived) Result {
	m := e.Message
	switch {
	case !s.isMember(e.Sender) || m.Provider == e.Sender:
		return group.RemoteError(s)
	case e.Sender == s.Member:
		if s.Has || s.Provider == "" || s.Marked || m.Attempt != s.Attempt {
			return group.Ignored(s)
		}
		s.Marked = true
		if s.isFormed() {
			s.Stood = s.Formed
		}
		return installIfWhole(s, nil)
	case m.Provider == s.Member:
		return provide(c, s, e.Sender, m.Attempt)
	case group.In(e.Sender, s.Giving): // it asks another
		s.Giving = group.Less(s.Giving, e.Sender)
		return group.Handled(s, up(FreeState{To: e.Sender}))
	}
	return group.Ignored(s)
}

func partRead(s State, e PartRead) Result {
	gift, known := s.Giving[e.To]
	if !known || e.Attempt != gift.Attempt || e.Number != gift.Number {
		return group.Ignored(s)
	}
	part := Part{Attempt: e.Attempt, Number: e.Number, Data: e.Data, Last: e.Last, Seen: gift.Seen, Declared: s.Declared}
	effects := group.Effects{group.Send{To: e.To, Message: part}}
	if e.Last {
		s.Giving = group.Less(s.Giving, e.To)
		return group.Handled(s, effects)
	}
	gift.Number++
	s.Giving = group.Noted(s.Giving, e.To, gift)
	if e.Number < gift.Credit {
		effects = group.Join(effects, up(ReadPart{To: e.To, Attempt: e.Attempt, Number: gift.Number}))
	}
	return group.Handled(s, effects)
}

// partFailed: the application cannot give the state.
func partFailed(s State, e PartFailed) Result {
	gift, known := s.Giving[e.To]
	if !known || e.Attempt != gift.Attempt {
		return group.Ignored(s)
	}
	s.Giving = group.Less(s.Giving, e.To)
	return group.Handled(s, group.Effects{group.Send{To: e.To, Message: Cannot{Attempt: e.Attempt}}})
}

func partReceived(s State, e PartReceived) Result {
	m := e.Message
	switch {
	case m.Number < 1:
		return group.RemoteError(s)
	case !s.isPresent(e.Sender, m.Attempt) || m.Number != s.Parts+1 || s.Whole:
		return group.Ignored(s)
	}
	s.Parts, s.Whole, s.Given = m.Number, m.Last, Given{Seen: m.Seen, Declared: m.Declared}
	effects := up(PutPart{Number: m.Number, Data: m.Data})
	if m.Last {
		return installIfWhole(s, effects)
	}
	return group.Handled(s, append(effects, group.Send{To: e.Sender, Message: Credit{Attempt: m.Attempt, Number: m.Number}}))
}

// creditReceived: the asker has taken parts up to this number.
func creditReceived(c Config, s State, e CreditReceived) Result {
	gift, known := s.Giving[e.Sender]
	credit := e.Message.Number + c.Window
	if !known || e.Message.Attempt != gift.Attempt || credit <= gift.Credit {
		return group.Ignored(s)
	}
	var effects group.Effects
	if gift.Number > gift.Credit {
		effects = up(ReadPart{To: e.Sender, Attempt: gift.Attempt, Number: gift.Number})
	}
	gift.Credit = credit
	s.Giving = group.Noted(s.Giving, e.Sender, gift)
	return group.Handled(s, effects)
}

func cannotReceived(c Config, s State, e CannotReceived) Result {
	if !s.isPresent(e.Sender, e.Message.Attempt) {
		return group.Ignored(s)
	}
	s.Refused = s.Refused.With(e.Sender)
	if !s.Settled {
		return stop(s)
	}
	return ask(c, s, nil)
}

// askTimeout: no member gave the state; perhaps one does now.
func askTimeout(c Config, s State) Result {
	if !s.Timer {
		return group.Ignored(s)
	}
	s.Timer = false
	if !s.waits() {
		return group.Handled(s, nil)
	}
	s.Refused = nil
	return ask(c, s, nil)
}

func viewFormed(s State, e group.ViewFormed) Result {
	if e.ViewId.Counter <= s.Formed || e.Before < 0 || e.Before >= e.ViewId.Counter {
		return group.LocalError(s)
	}
	s.Formed, s.Base = e.ViewId.Counter, e.Before
	t := s.stands()
	lacksAlone := t.isFormed() && len(s.View.Members) == 1 && s.Settled && !s.Has
	if t.isStale() || lacksAlone {
		return group.Handled(t.vacates(), group.Join(up(e), up(NoState{})))
	}
	return group.Handled(t, up(e))
}

// Package stable is spec/stable/Stable.tla with the constants of its reference.
package stable

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Vector = map[string]int64
	Result = group.Result[State]
)

// Config: received bytes that make a member vote (0: only the timer does), and times in ms.
type Config struct {
	MaxBytes       int64 `wire:"MaxBytes"`
	StableInterval int64 `wire:"StableInterval"`
	StabilityDelay int64 `wire:"StabilityDelay"`
}

// State of a member. Start says what each field is at first, Stable.tla what it means.
type State struct {
	Member        string
	View          group.View
	Vote, Minimum Vector
	HeardFrom     Set
	Pending       bool
	ReceivedBytes int64
	Promised      Set
}

// DigestEntry has a member's seqnos of a sender.
type DigestEntry struct{ Low, Delivered, Received int64 }

type (
	// Event is one of the structs below.
	Event any

	ViewInstalled struct {
		_      wire.Tag `wire:"ViewInstalled"`
		View   group.View
		Digest map[string]DigestEntry
	}
	StableTimeout struct {
		_ wire.Tag `wire:"StableTimeout"`
	}
	StableReceived struct {
		_       wire.Tag `wire:"StableReceived"`
		Sender  string
		Message Stable
	}
	StabilityTimeout struct {
		_ wire.Tag `wire:"StabilityTimeout"`
	}
	StabilityReceived struct {
		_       wire.Tag `wire:"StabilityReceived"`
		Sender  string
		Message Stability
		Digest  map[string]DigestEntry
	}

	// Stable is a vote.
	Stable struct {
		_      wire.Tag `wire:"STABLE"`
		ViewId group.ViewId
		Digest Vector
	}
	// Stability is an announcement.
	Stability struct {
		_      wire.Tag `wire:"STABILITY"`
		ViewId group.ViewId
		Digest Vector
	}
)

func init() {
	wire.Union[Event](ViewInstalled{}, StableTimeout{}, group.MessageReceived{}, StableReceived{}, StabilityTimeout{},
		StabilityReceived{}, group.DigestPromised{}, group.PromiseWithdrawn{})
}

// Start is a member before its first view.
func Start(member string) State { return State{Member: member} }

func (s State) joined() bool { return !s.View.Equal(group.NoView) }

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case ViewInstalled:
		return viewInstalled(c, s, e)
	case StableTimeout:
		return stableTimeout(c, s)
	case group.MessageReceived:
		return messageReceived(c, s, e)
	case StableReceived:
		return stableReceived(c, s, e)
	case StabilityTimeout:
		return stabilityTimeout(s)
	case StabilityReceived:
		return stabilityReceived(s, e)
	case group.DigestPromised:
		return digestPromised(s, e)
	case group.PromiseWithdrawn:
		return promiseWithdrawn(s, e)
	}
	panic("no event of STABLE")
}

func ownVector(digest map[string]DigestEntry) Vector {
	return group.Map(group.Keys(digest), func(m string) int64 { return digest[m].Delivered })
}

func newRound(s State, vote Vector) State {
	s.Vote, s.Minimum, s.HeardFrom = vote, vote, s.View.Set()
	return s
}

// extended: what the vector had stays, the others' is as in fresh.
func extended(vector, fresh Vector) Vector {
	return group.Map(group.Keys(fresh), func(m string) int64 {
		if n, ok := vector[m]; ok {
			return n
		}
		return fresh[m]
	})
}

// minVector: an entry that only v has stays.
func minVector(v, w Vector) Vector {
	return group.Map(group.Keys(v), func(m string) int64 {
		if n, ok := w[m]; ok && n < v[m] {
			return n
		}
		return v[m]
	})
}

func cancelIf(pending bool) group.Effects {
	if pending {
		return group.Effects{group.CancelTimer{Name: "stability"}}
	}
	return nil
}

func (s State) voting(more ...group.Effect) group.Effects {
	return append(group.Effects{group.Datagram{To: group.All, Message: Stable{ViewId: s.View.Id, Digest: s.Vote}}}, more...)
}

func (c Config) stableTimer() group.Effect {
	return group.SetTimer{Name: "stable", Low: c.StableInterval, High: c.StableInterval}
}

// fromView: who is in the view may have sent this vector in it.
func fromView(s State, sender string, digest Vector) bool {
	return s.View.Set().Has(sender) && group.Is(digest, s.View.Set())
}

func viewInstalled(c Config, s State, e ViewInstalled) Result {
	members := e.View.Set()
	if !members.Has(s.Member) || !group.Is(e.Digest, members) {
		return group.LocalError(s)
	}
	if e.View.Id.Counter <= s.View.Id.Counter {
		return group.Ignored(s)
	}
	drop := s.Pending
	vote := ownVector(e.Digest)
	waiting := s.Promised.Minus(members)
	if len(waiting) > 0 {
		vote = extended(s.Vote, vote)
	}
	s.View, s.Promised, s.ReceivedBytes, s.Pending = e.View, waiting, 0, false
	return group.Handled(newRound(s, vote), append(cancelIf(drop), c.stableTimer()))
}

func stableTimeout(c Config, s State) Result {
	if !s.joined() {
		return group.LocalError(s)
	}
	s.ReceivedBytes = 0
	return group.Handled(s, s.voting(c.stableTimer()))
}

func messageReceived(c Config, s State, e group.MessageReceived) Result {
	switch {
	case !s.joined():
		return group.LocalError(s)
	case c.MaxBytes == 0:
		return group.Ignored(s)
	case s.ReceivedBytes+e.Size < c.MaxBytes:
		s.ReceivedBytes += e.Size
		return group.Handled(s, nil)
	}
	s.ReceivedBytes = 0
	return group.Handled(s, s.voting())
}

func stableReceived(c Config, s State, e StableReceived) Result {
	switch {
	case !s.joined() || e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !fromView(s, e.Sender, e.Message.Digest):
		return group.RemoteError(s)
	case !s.HeardFrom.Has(e.Sender):
		return group.Ignored(s)
	}
	s.Minimum = minVector(s.Minimum, e.Message.Digest)
	s.HeardFrom = s.HeardFrom.Without(e.Sender)
	if len(s.HeardFrom) > 0 {
		return group.Handled(s, nil)
	}
	s.Pending = true
	return group.Handled(s, group.Effects{group.SetTimer{Name: "stability", Low: 0, High: c.StabilityDelay}})
}

func stabilityTimeout(s State) Result {
	if !s.Pending {
		return group.Ignored(s)
	}
	s.Pending = false
	message := Stability{ViewId: s.View.Id, Digest: s.Minimum}
	return group.Handled(s, group.Effects{group.Datagram{To: group.All, Message: message}})
}

func stabilityReceived(s State, e StabilityReceived) Result {
	switch {
	case !s.joined() || e.Message.ViewId != s.View.Id:
		return group.Ignored(s)
	case !fromView(s, e.Sender, e.Message.Digest):
		return group.RemoteError(s)
	case !group.Is(e.Digest, s.View.Set()):
		return group.LocalError(s)
	}
	vote := ownVector(e.Digest)
	if len(s.Promised) > 0 {
		vote = s.Vote
	}
	purge := group.PassDown{Event: group.Purge{Digest: e.Message.Digest}}
	effects := append(group.Effects{purge}, cancelIf(s.Pending)...)
	s.Pending = false
	return group.Handled(newRound(s, vote), effects)
}

func digestPromised(s State, e group.DigestPromised) Result {
	switch {
	case !s.joined() || s.View.Set().Has(e.To):
		return group.LocalError(s)
	case s.Promised.Has(e.To):
		return group.Ignored(s)
	}
	s.Promised = s.Promised.With(e.To)
	return group.Handled(s, nil)
}

func promiseWithdrawn(s State, e group.PromiseWithdrawn) Result {
	if !s.Promised.Has(e.To) {
		return group.Ignored(s)
	}
	s.Promised = s.Promised.Without(e.To)
	return group.Handled(s, nil)
}

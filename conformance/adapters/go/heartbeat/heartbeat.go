// Package heartbeat is spec/heartbeat/Heartbeat.tla with the constants of its reference.
package heartbeat

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Result = group.Result[State]
)

// Config: the own heartbeats after which a member is silent, at least and at most, and ms between two heartbeats.
type Config struct {
	Patience     int64 `wire:"Patience"`
	Longest      int64 `wire:"Longest"`
	BeatInterval int64 `wire:"BeatInterval"`
}

// State of a member. Heartbeat.tla says what each field means.
type State struct {
	Member       string
	View         group.ViewId
	Members      Set
	Beats, Since int64
	Heard        map[string]Heard
}

type (
	// Heard is the last heartbeat of a peer, with what was counted of its peer since.
	Heard struct {
		Number           int64
		View             group.ViewId
		Counts, Suspects bool
		Missed, Gap      int64
	}
	Heartbeat struct {
		_                wire.Tag `wire:"HEARTBEAT"`
		Number           int64
		View             group.ViewId
		Counts, Suspects bool
	}
	Around struct{ Watched, Suspected, Sought, Reachable Set }
)

type (
	// Event is one of the structs below.
	Event any

	BeatTimeout struct {
		_      wire.Tag `wire:"BeatTimeout"`
		Around Around
	}
	HeartbeatReceived struct {
		_       wire.Tag `wire:"HeartbeatReceived"`
		Sender  string
		Message Heartbeat
	}
)

func init() { wire.Union[Event](BeatTimeout{}, HeartbeatReceived{}, group.ViewInstalled{}) }

// Start is a member before its first view.
func Start(member string) State { return State{Member: member} }

// Step is total over Event.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case BeatTimeout:
		return beatTimeout(c, s, e)
	case HeartbeatReceived:
		if isMalformed(s, e) {
			return group.RemoteError(s)
		}
		return heartbeatReceived(s, e)
	case group.ViewInstalled:
		return viewInstalled(s, e)
	}
	panic("no event of HEARTBEAT")
}

func least(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func greatest(a, b int64) int64 { return -least(-a, -b) }

func (c Config) isSilent(h Heard) bool {
	return h.Missed > least(c.Longest, greatest(c.Patience, 2*h.Gap))
}

// isSuspect says whether a watched member is to be suspected.
func isSuspect(c Config, s State, h Heard) bool {
	hasLasted := s.Beats-s.Since > c.Patience
	switch {
	case c.isSilent(h):
		return true
	case h.View == group.NoView.Id:
		return false
	case h.Suspects && h.View == s.View:
		return true
	case !h.Counts && h.View.Counter >= s.View.Counter:
		return true
	}
	return hasLasted && (h.Suspects || !h.Counts)
}

func beatTimeout(c Config, s State, e BeatTimeout) Result {
	watched, sought := e.Around.Watched.Without(s.Member), e.Around.Sought.Without(s.Member)
	expected := watched.Or(sought)
	peers := expected.Or(e.Around.Reachable).Without(s.Member)
	heard := group.Map(expected, func(string) Heard { return Heard{} })
	for p, h := range s.Heard {
		if peers.Has(p) {
			h.Missed = least(h.Missed, c.Longest) + 1
			heard[p] = h
		}
	}
	s.Beats, s.Heard = s.Beats+1, heard
	var effects group.Effects
	for _, p := range group.Sorted(peers) {
		beat := Heartbeat{Number: s.Beats, View: s.View, Counts: s.Members.Has(p), Suspects: e.Around.Suspected.Has(p)}
		effects = append(effects, group.Datagram{To: p, Message: beat})
	}
	effects = append(effects, group.SetTimer{Name: "beat", Low: c.BeatInterval, High: c.BeatInterval})
	for _, p := range group.Sorted(watched) {
		if len(s.Members) > 0 && isSuspect(c, s, heard[p]) {
			effects = append(effects, group.PassUp{Event: group.Suspected{Suspect: p}})
		}
	}
	for _, p := range group.Sorted(sought) {
		if c.isSilent(heard[p]) {
			effects = append(effects, group.PassUp{Event: group.SilenceReported{Peer: p}})
		}
	}
	return group.Handled(s, effects)
}

func heartbeatReceived(s State, e HeartbeatReceived) Result {
	m, known := e.Message, s.Heard[e.Sender]
	if m.Number <= known.Number {
		return group.Ignored(s)
	}
	said := Heard{Number: m.Number, View: m.View, Counts: m.Counts, Suspects: m.Suspects}
	if known.Number != 0 {
		said.Gap = greatest(known.Missed, known.Gap-1)
	}
	s.Heard = group.Noted(s.Heard, e.Sender, said)
	return group.Handled(s, nil)
}

func viewInstalled(s State, e group.ViewInstalled) Result {
	members := e.View.Set()
	switch {
	case !members.Has(s.Member):
		return group.LocalError(s)
	case e.View.Id == s.View:
		return group.Ignored(s)
	}
	s.View, s.Members, s.Since = e.View.Id, members, s.Beats
	return group.Handled(s, nil)
}

func isMalformed(s State, e HeartbeatReceived) bool {
	m := e.Message
	return e.Sender == s.Member || m.Number < 1 || m.View == group.NoView.Id && (m.Counts || m.Suspects)
}

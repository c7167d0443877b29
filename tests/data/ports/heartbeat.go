// HEARTBEAT in the skeleton of Go: what the tests put in the place of its port.go.
package main

import "sort"

const (
	Handled     = "handled"
	Ignored     = "ignored"
	LocalError  = "local_error"
	RemoteError = "remote_error"
)

type Result struct {
	Outcome string
	State   State
	Effects []Effect
}

func Start(member string) State { return State{Member: member} }

func has(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// others has the members of some sets but one, in their order.
func others(me string, sets ...Set[string]) []string {
	var found []string
	for _, set := range sets {
		for _, p := range set {
			if p != me && !has(found, p) {
				found = append(found, p)
			}
		}
	}
	sort.Strings(found)
	return found
}

func (c Config) isSilent(h Heard) bool { return h.Missed > min(c.Longest, max(c.Patience, 2*h.Gap)) }

func isSuspect(c Config, s State, h Heard) bool {
	if c.isSilent(h) || h.View == (ViewId{}) {
		return c.isSilent(h)
	}
	excludes := !h.Counts && h.View.Counter >= s.View.Counter
	return h.Suspects && h.View == s.View || excludes || s.Beats-s.Since > c.Patience && (h.Suspects || !h.Counts)
}

func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case BeatTimeout:
		return beatTimeout(c, s, e.Around)
	case HeartbeatReceived:
		return heartbeatReceived(s, e.Sender, e.Message)
	case ViewInstalled:
		if !has(e.View.Members, s.Member) {
			return Result{Outcome: LocalError}
		} else if e.View.Id == s.View {
			return Result{Outcome: Ignored}
		}
		s.View, s.Members, s.Since = e.View.Id, others("", e.View.Members), s.Beats
		return Result{Handled, s, nil}
	}
	panic("no event")
}

func beatTimeout(c Config, s State, around Around) Result {
	watched, sought := others(s.Member, around.Watched), others(s.Member, around.Sought)
	peers := others(s.Member, watched, sought, around.Reachable)
	heard := map[string]Heard{}
	for _, p := range append(append([]string{}, watched...), sought...) {
		heard[p] = Heard{}
	}
	for p, h := range s.Heard {
		if has(peers, p) {
			h.Missed = min(h.Missed, c.Longest) + 1
			heard[p] = h
		}
	}
	s.Beats, s.Heard = s.Beats+1, heard
	var effects []Effect
	for _, p := range peers {
		message := Heartbeat{Number: s.Beats, View: s.View, Counts: has(s.Members, p), Suspects: has(around.Suspected, p)}
		effects = append(effects, DatagramHeartbeat{To: p, Message: message})
	}
	effects = append(effects, SetTimer{Name: "beat", Low: c.BeatInterval, High: c.BeatInterval})
	for _, p := range watched {
		if len(s.Members) > 0 && isSuspect(c, s, heard[p]) {
			effects = append(effects, PassUp{Event: Suspected{Suspect: p}})
		}
	}
	for _, p := range sought {
		if c.isSilent(heard[p]) {
			effects = append(effects, PassUp{Event: SilenceReported{Peer: p}})
		}
	}
	return Result{Handled, s, effects}
}

func heartbeatReceived(s State, sender string, m Heartbeat) Result {
	if sender == s.Member || m.Number < 1 || m.View == (ViewId{}) && (m.Counts || m.Suspects) {
		return Result{Outcome: RemoteError}
	}
	known := s.Heard[sender]
	if m.Number <= known.Number {
		return Result{Outcome: Ignored}
	}
	said := Heard{Number: m.Number, View: m.View, Counts: m.Counts, Suspects: m.Suspects}
	if known.Number != 0 {
		said.Gap = max(known.Missed, known.Gap-1)
	}
	heard := map[string]Heard{sender: said}
	for p, h := range s.Heard {
		if p != sender {
			heard[p] = h
		}
	}
	s.Heard = heard
	return Result{Handled, s, nil}
}

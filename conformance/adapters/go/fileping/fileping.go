// Package fileping is spec/file_ping/FilePing.tla with the constants of its reference.
package fileping

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Result = group.Result[State]
)

// Config: ms that a member waits for answers, and until it is let in, and until it looks again, at least and at most.
type Config struct {
	DiscoveryTime int64 `wire:"DiscoveryTime"`
	JoinTime      int64 `wire:"JoinTime"`
	LookMin       int64 `wire:"LookMin"`
	LookMax       int64 `wire:"LookMax"`
}

// State of a member. FilePing.tla says what each field means.
type State struct {
	Member                          string
	Phase                           string
	Members                         []string
	Look                            string
	Asked, Answered, Named, Seniors Set
	Target                          string
	Coordinators                    Set
}

type (
	GetMbrsReq struct {
		_        wire.Tag `wire:"GET_MBRS_REQ"`
		Starting bool
	}
	GetMbrsRsp struct {
		_           wire.Tag `wire:"GET_MBRS_RSP"`
		Coordinator string
	}
	WriteRecord struct {
		_ wire.Tag `wire:"WriteRecord"`
	}
	ReadRecords struct {
		_ wire.Tag `wire:"ReadRecords"`
	}
	RemoveRecords struct {
		_  wire.Tag `wire:"RemoveRecords"`
		Of Set
	}
	Found struct {
		_           wire.Tag `wire:"Found"`
		Coordinator string
	}
)

type (
	// Event is one of the structs below.
	Event any

	ConnectRequested struct {
		_ wire.Tag `wire:"ConnectRequested"`
	}
	RecordsRead struct {
		_             wire.Tag `wire:"RecordsRead"`
		Found, Broken Set
	}
	GetMbrsReqReceived struct {
		_       wire.Tag `wire:"GetMbrsReqReceived"`
		Sender  string
		Message GetMbrsReq
	}
	GetMbrsRspReceived struct {
		_       wire.Tag `wire:"GetMbrsRspReceived"`
		Sender  string
		Message GetMbrsRsp
	}
	DiscoveryTimeout struct {
		_ wire.Tag `wire:"DiscoveryTimeout"`
	}
	JoinTimeout struct {
		_ wire.Tag `wire:"JoinTimeout"`
	}
	LookTimeout struct {
		_ wire.Tag `wire:"LookTimeout"`
	}
	DisconnectRequested struct {
		_ wire.Tag `wire:"DisconnectRequested"`
	}
)

func init() {
	wire.Union[Event](ConnectRequested{}, RecordsRead{}, GetMbrsReqReceived{}, GetMbrsRspReceived{}, DiscoveryTimeout{},
		JoinTimeout{}, LookTimeout{}, group.ViewInstalled{}, DisconnectRequested{})
}

// Start is a member that does not look for others yet.
func Start(member string) State { return State{Member: member, Phase: "idle", Look: "no"} }

// Step is total over Event. No member asks or answers itself.
func Step(c Config, s State, event Event) Result {
	switch e := event.(type) {
	case ConnectRequested:
		return connectRequested(s)
	case RecordsRead:
		return recordsRead(c, s, e)
	case GetMbrsReqReceived:
		if e.Sender == s.Member {
			return group.RemoteError(s)
		}
		return getMbrsReqReceived(s, e)
	case GetMbrsRspReceived:
		if e.Sender == s.Member {
			return group.RemoteError(s)
		}
		return getMbrsRspReceived(s, e)
	case DiscoveryTimeout:
		return discoveryTimeout(c, s)
	case JoinTimeout:
		return joinTimeout(s)
	case LookTimeout:
		return lookTimeout(c, s)
	case group.ViewInstalled:
		return viewInstalled(c, s, e)
	case DisconnectRequested:
		return disconnectRequested(s)
	}
	panic("no event of FILE_PING")
}

func (s State) coordinates() bool { return len(s.Members) > 0 && s.Members[0] == s.Member }

func (s State) withoutLook() State {
	s.Look, s.Asked, s.Answered, s.Named, s.Seniors = "no", nil, nil, nil, nil
	return s
}

func (c Config) lookTimer() group.Effect {
	return group.SetTimer{Name: "look", Low: c.LookMin, High: c.LookMax}
}

func removeRecords(of Set) group.Effects {
	if len(of) == 0 {
		return nil
	}
	return group.Effects{group.PassDown{Event: RemoveRecords{Of: of}}}
}

func beginLook(s State, before group.Effects) Result {
	s = s.withoutLook()
	s.Look = "reading"
	return group.Handled(s, append(before, group.PassDown{Event: ReadRecords{}}))
}

func connectRequested(s State) Result {
	if s.Phase != "idle" {
		return group.LocalError(s)
	}
	s.Phase = "starting"
	return beginLook(s, group.Effects{group.PassDown{Event: WriteRecord{}}})
}

// decide: a starter joins the first coordinator that was named and has answered; itself if none was named, and no senior
// starts.
func decide(c Config, s State, named, seniors Set) Result {
	target, heard := s.Member, named.Where(s.Answered.Has)
	switch {
	case len(heard) > 0:
		target = group.Sorted(heard)[0]
	case len(named) > 0 || len(seniors) > 0:
		return beginLook(s, nil)
	}
	effects := group.Effects{group.PassUp{Event: Found{Coordinator: target}}}
	if target != s.Member {
		effects = append(effects, group.SetTimer{Name: "join", Low: c.JoinTime, High: c.JoinTime})
	}
	s = s.withoutLook()
	s.Phase, s.Target = "joining", target
	return group.Handled(s, effects)
}

func endLook(c Config, s State) Result {
	var removed group.Effects
	if s.coordinates() {
		removed = removeRecords(s.Asked.Minus(s.Answered))
	}
	coordinators := s.Named.Minus(group.SetOf(s.Members...))
	s = s.withoutLook()
	s.Coordinators = coordinators
	return group.Handled(s, append(removed, c.lookTimer()))
}

func recordsRead(c Config, s State, e RecordsRead) Result {
	found := e.Found.Without(s.Member)
	switch {
	case s.Look != "reading":
		return group.Ignored(s)
	case len(found) == 0 && s.Phase == "starting":
		return decide(c, s, nil, s.Seniors)
	case len(found) == 0:
		return endLook(c, s)
	}
	var effects group.Effects
	for _, m := range group.Sorted(found) {
		effects = append(effects, group.Datagram{To: m, Message: GetMbrsReq{Starting: s.Phase == "starting"}})
	}
	s.Look, s.Asked = "asking", found
	return group.Handled(s, append(effects, group.SetTimer{Name: "discovery", Low: c.DiscoveryTime, High: c.DiscoveryTime}))
}

func getMbrsReqReceived(s State, e GetMbrsReqReceived) Result {
	coordinator := ""
	switch s.Phase {
	case "in_view":
		coordinator = s.Members[0]
	case "joining":
		coordinator = s.Target
	case "starting":
		if e.Message.Starting && e.Sender < s.Member {
			s.Seniors = s.Seniors.With(e.Sender)
		}
	default:
		return group.Ignored(s)
	}
	return group.Handled(s, group.Effects{group.Datagram{To: e.Sender, Message: GetMbrsRsp{Coordinator: coordinator}}})
}

func getMbrsRspReceived(s State, e GetMbrsRspReceived) Result {
	if !s.Asked.Has(e.Sender) {
		return group.Ignored(s)
	}
	s.Answered = s.Answered.With(e.Sender)
	if e.Message.Coordinator != "" {
		s.Named = s.Named.With(e.Message.Coordinator)
	} else if e.Sender < s.Member {
		s.Seniors = s.Seniors.With(e.Sender)
	}
	return group.Handled(s, nil)
}

func discoveryTimeout(c Config, s State) Result {
	switch {
	case s.Look != "asking":
		return group.Ignored(s)
	case s.Phase == "starting":
		return decide(c, s, s.Named, s.Seniors)
	}
	return endLook(c, s)
}

// joinTimeout: the coordinator that was named may be dead.
func joinTimeout(s State) Result {
	if s.Phase != "joining" || s.Target == s.Member {
		return group.Ignored(s)
	}
	s.Phase, s.Target = "starting", ""
	return beginLook(s, nil)
}

func lookTimeout(c Config, s State) Result {
	wrote := group.Effects{group.PassDown{Event: WriteRecord{}}}
	switch {
	case s.Phase != "in_view" || s.Look != "no":
		return group.Ignored(s)
	case s.coordinates():
		return beginLook(s, wrote)
	}
	return group.Handled(s, append(wrote, c.lookTimer()))
}

func viewInstalled(c Config, s State, e group.ViewInstalled) Result {
	now := e.View.Set()
	if !now.Has(s.Member) || s.Phase == "gone" {
		return group.LocalError(s)
	}
	var timer group.Effects
	if s.Phase != "in_view" && s.Look == "no" {
		timer = group.Effects{c.lookTimer()}
	}
	s.Phase, s.Members, s.Target, s.Coordinators = "in_view", e.View.Members, "", s.Coordinators.Minus(now)
	return group.Handled(s, timer)
}

func disconnectRequested(s State) Result {
	if s.Phase == "idle" || s.Phase == "gone" {
		return group.LocalError(s)
	}
	after := Start(s.Member)
	after.Phase = "gone"
	return group.Handled(after, removeRecords(Set{s.Member}))
}

// Package merge is spec/merge/Merge.tla with the constants of its reference.
package merge

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set      = group.Set[string]
	Vector   = map[string]int64
	Decision = group.Decision
	Result   = group.Result[State]
)

// Config has times in ms.
type Config struct {
	MinInterval   int64 `wire:"MinInterval"`
	MaxInterval   int64 `wire:"MaxInterval"`
	LeaderTimeout int64 `wire:"LeaderTimeout"`
	MemberTimeout int64 `wire:"MemberTimeout"`
}

// State of a member. Start says what each field is at first, Merge.tla what it means.
type State struct {
	Member    string
	Decision  Decision
	Merge     MergeId
	Awaiting  Set
	Responses map[string]Response
	Begun     int64
	Early     []Merged
}

// MergeId names a merge: who leads it, in which incarnation, and the number that the leader gave it.
type MergeId struct {
	Leader       string
	Life, Number int64
}

var noMerge = MergeId{}

// Response is what a coordinator has answered.
type Response struct {
	Decision Decision
	Digest   Vector
}

// Merged is a merged view, which follows several.
type Merged struct {
	Id      group.ViewId
	Members []string
	Follows group.Set[group.ViewId]
	Lives   Vector
	Digest  Vector
}

// Set of its members.
func (m Merged) Set() Set { return group.SetOf(m.Members...) }

func (m Merged) isSound() bool {
	above := !group.Any(m.Follows, func(id group.ViewId) bool { return id.Counter >= m.Id.Counter })
	return group.IsList(m.Members) && group.KnowsLives(m.Members, m.Lives) && above && group.Is(m.Digest, m.Set())
}

type (
	MergeReq struct {
		_        wire.Tag `wire:"MERGE_REQ"`
		MergeId  MergeId
		Decision Decision
	}
	MergeRsp struct {
		_        wire.Tag `wire:"MERGE_RSP"`
		MergeId  MergeId
		Rejected bool
		Decision Decision
		Digest   Vector
	}
	InstallMergeView struct {
		_       wire.Tag `wire:"INSTALL_MERGE_VIEW"`
		MergeId MergeId
		Merged  Merged
	}
	MergeView struct {
		_      wire.Tag `wire:"MERGE_VIEW"`
		Merged Merged
	}
	CancelMerge struct {
		_       wire.Tag `wire:"CANCEL_MERGE"`
		MergeId MergeId
	}
)

type (
	// Event is one of the structs below.
	Event any

	DecisionInstalled struct {
		_        wire.Tag `wire:"DecisionInstalled"`
		Decision Decision
	}
	EarlyTimeout struct {
		_ wire.Tag `wire:"EarlyTimeout"`
	}
	DiscoverTimeout struct {
		_      wire.Tag `wire:"DiscoverTimeout"`
		Found  Set
		Digest Vector
	}
	MergeReqReceived struct {
		_       wire.Tag `wire:"MergeReqReceived"`
		Sender  string
		Message MergeReq
		Digest  Vector
	}
	MergeRspReceived struct {
		_       wire.Tag `wire:"MergeRspReceived"`
		Sender  string
		Message MergeRsp
	}
	MergeTimeout struct {
		_      wire.Tag `wire:"MergeTimeout"`
		Number int64
	}
	CancelMergeReceived struct {
		_       wire.Tag `wire:"CancelMergeReceived"`
		Sender  string
		Message CancelMerge
	}
	InstallMergeViewReceived struct {
		_       wire.Tag `wire:"InstallMergeViewReceived"`
		Sender  string
		Message InstallMergeView
	}
	MergeViewReceived struct {
		_       wire.Tag `wire:"MergeViewReceived"`
		Sender  string
		Message MergeView
	}
)

type (
	SuspendViews struct {
		_ wire.Tag `wire:"SuspendViews"`
	}
	ResumeViews struct {
		_ wire.Tag `wire:"ResumeViews"`
	}
	MergeDecided struct {
		_        wire.Tag `wire:"MergeDecided"`
		Decision Decision
	}
)

func init() {
	wire.Union[Event](DiscoverTimeout{}, MergeReqReceived{}, MergeRspReceived{}, MergeTimeout{}, CancelMergeReceived{},
		InstallMergeViewReceived{}, MergeViewReceived{}, DecisionInstalled{}, EarlyTimeout{})
}

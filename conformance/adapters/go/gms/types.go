// Package gms is spec/gms/Gms.tla with the constants of its reference.
package gms

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

// Self is who asks the layer below for a digest, and the layer above to stop the group.
const Self = "GMS"

// State of a member. Start says what each field is at first, Gms.tla what it means.
type State struct {
	Member     string
	Life       int64
	Joining    bool
	Decision   Decision
	Suspected  Set
	Phase      string
	Awaits     Set
	Newest     Decision
	TookOver   bool
	Owed       Set
	Admitting  int64
	Queue      []Request
	Asked      int64
	Leaving    bool
	LeaveAsked string
	Gone       bool
}

// Request to "join" or to "leave", which waits.
type Request struct {
	Kind, Member string
	Life         int64
}

func (r Request) isJoin() bool { return r.Kind == "join" }

// Config: how many requests one view grants at most.
type Config struct {
	MaxBundle int64 `wire:"MaxBundle"`
}

type (
	JoinReq struct {
		_    wire.Tag `wire:"JOIN_REQ"`
		Life int64
	}
	JoinRsp struct {
		_        wire.Tag `wire:"JOIN_RSP"`
		Decision Decision
	}
	JoinRefused struct {
		_    wire.Tag `wire:"JOIN_REFUSED"`
		Life int64
	}
	LeaveReq struct {
		_    wire.Tag `wire:"LEAVE_REQ"`
		Life int64
	}
	LeaveRsp struct {
		_    wire.Tag `wire:"LEAVE_RSP"`
		Life int64
	}
	NewView struct {
		_        wire.Tag `wire:"NEW_VIEW"`
		Decision Decision
	}
	ViewAck struct {
		_      wire.Tag `wire:"VIEW_ACK"`
		ViewId group.ViewId
	}
	Query struct {
		_       wire.Tag `wire:"QUERY"`
		ViewId  group.ViewId
		Seniors Set
	}
	Answer struct {
		_        wire.Tag `wire:"ANSWER"`
		ViewId   group.ViewId
		Decision Decision
	}
)

type (
	// Event is one of the structs below.
	Event any

	JoinRequested struct {
		_           wire.Tag `wire:"JoinRequested"`
		Coordinator string
		Life        int64
	}
	LeaveRequested struct {
		_ wire.Tag `wire:"LeaveRequested"`
	}
	JoinReqReceived struct {
		_       wire.Tag `wire:"JoinReqReceived"`
		Sender  string
		Message JoinReq
	}
	JoinRefusedReceived struct {
		_       wire.Tag `wire:"JoinRefusedReceived"`
		Sender  string
		Message JoinRefused
	}
	LeaveReqReceived struct {
		_       wire.Tag `wire:"LeaveReqReceived"`
		Sender  string
		Message LeaveReq
	}
	LeaveRspReceived struct {
		_       wire.Tag `wire:"LeaveRspReceived"`
		Sender  string
		Message LeaveRsp
	}
	QueryReceived struct {
		_       wire.Tag `wire:"QueryReceived"`
		Sender  string
		Message Query
	}
	AnswerReceived struct {
		_       wire.Tag `wire:"AnswerReceived"`
		Sender  string
		Message Answer
	}
	NewViewReceived struct {
		_       wire.Tag `wire:"NewViewReceived"`
		Sender  string
		Message NewView
	}
	JoinRspReceived struct {
		_       wire.Tag `wire:"JoinRspReceived"`
		Sender  string
		Message JoinRsp
	}
	ViewAckReceived struct {
		_       wire.Tag `wire:"ViewAckReceived"`
		Sender  string
		Message ViewAck
	}
)

type (
	// Left goes up.
	Left struct {
		_ wire.Tag `wire:"Left"`
	}
)

// Events of GMS alone, and events of several protocols.
var Events = []Event{JoinRequested{}, LeaveRequested{}, JoinReqReceived{}, JoinRefusedReceived{}, LeaveReqReceived{},
	LeaveRspReceived{}, group.Suspected{}, QueryReceived{}, AnswerReceived{}, NewViewReceived{}, JoinRspReceived{}, ViewAckReceived{},
	group.GroupStopped{}, group.DigestGiven{}}

func init() { wire.Union(Events...) }

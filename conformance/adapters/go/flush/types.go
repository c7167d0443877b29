// Package flush is spec/flush/Flush.tla with the constants of its reference.
package flush

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Vector = map[string]int64
	Result = group.Result[State]
)

// The callers of a flush.
const (
	forViews = "GMS"
	forState = "STATE_TRANSFER"
	self     = "FLUSH"
)

// State of a member. Start says what each field is at first, Flush.tla what it means.
type State struct {
	Member       string
	View         group.View
	Suspected    Set
	Sent         int64
	Delivered    Vector
	Block        string
	Latched      bool
	Waiting      []wire.Payload
	Owner, Asker string
	Round        int64
	Owes, Frozen bool
	Limit        Vector
	Later        Vector
	Wants        Set
	Run          Run
}

// Run is a requester's flush.
type Run struct {
	Phase   string
	Round   int64
	Want    Set
	Reports map[string]Vector
}

type (
	StartFlush struct {
		_      wire.Tag `wire:"START_FLUSH"`
		ViewId group.ViewId
		Round  int64
		Asker  string
	}
	FlushCompleted struct {
		_      wire.Tag `wire:"FLUSH_COMPLETED"`
		ViewId group.ViewId
		Round  int64
		Digest Vector
	}
	Reconcile struct {
		_       wire.Tag `wire:"RECONCILE"`
		ViewId  group.ViewId
		Round   int64
		Target  Vector
		Holders map[string]string
	}
	StopFlush struct {
		_      wire.Tag `wire:"STOP_FLUSH"`
		ViewId group.ViewId
	}
	Data struct {
		_       wire.Tag `wire:"DATA"`
		ViewId  group.ViewId
		Seqno   int64
		Payload wire.Payload
	}
)

type (
	// Event is one of the structs below.
	Event any

	StartFlushReceived struct {
		_       wire.Tag `wire:"StartFlushReceived"`
		Sender  string
		Message StartFlush
	}
	BlockReturned struct {
		_ wire.Tag `wire:"BlockReturned"`
	}
	FlushCompletedReceived struct {
		_       wire.Tag `wire:"FlushCompletedReceived"`
		Sender  string
		Message FlushCompleted
	}
	ReconcileReceived struct {
		_       wire.Tag `wire:"ReconcileReceived"`
		Sender  string
		Message Reconcile
	}
	StopFlushReceived struct {
		_       wire.Tag `wire:"StopFlushReceived"`
		Sender  string
		Message StopFlush
	}
	DataReceived struct {
		_       wire.Tag `wire:"DataReceived"`
		Sender  string
		Message Data
	}
)

type (
	Block struct {
		_ wire.Tag `wire:"Block"`
	}
	Unblock struct {
		_ wire.Tag `wire:"Unblock"`
	}
)

func init() {
	wire.Union[Event](group.Suspend{}, group.Resume{}, group.ViewInstalled{}, group.MergeViewInstalled{}, group.Suspected{},
		StartFlushReceived{}, BlockReturned{}, FlushCompletedReceived{}, ReconcileReceived{}, StopFlushReceived{},
		group.SendRequested{}, DataReceived{})
}

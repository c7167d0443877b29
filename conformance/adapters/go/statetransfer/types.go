// Package statetransfer is spec/state_transfer/StateTransfer.tla with the constants of its reference.
package statetransfer

import (
	"groupcomm.example/port/group"
	"groupcomm.example/port/wire"
)

type (
	Set    = group.Set[string]
	Seen   = map[string]int64
	Result = group.Result[State]
)

// Config: parts in transit at most; bytes of messages that wait for a state, as Step says; ms until a member asks again.
type Config struct {
	Window  int64 `wire:"Window"`
	FullAt  int64 `wire:"FullAt"`
	MaxHeld int64 `wire:"MaxHeld"`
	AskTime int64 `wire:"AskTime"`
}

// State of a member. Start says what each field is at first, StateTransfer.tla what it means.
type State struct {
	Member            string
	View              group.View
	Sent              int64
	Seen              Seen
	Has, Declared     bool
	Name              []group.ViewId
	Formed, Base      int64
	Stood             int64
	After, Upto       int64
	Settled, Vacant   bool
	Telling, Declares bool
	Told              map[string]Standing
	Attempt           int64
	Provider          string
	Refused           Set
	Marked            bool
	Parts             int64
	Whole             bool
	Given             Given
	Held              []Held
	Bytes             int64
	Full              bool
	Timer, Soon, Owes bool
	Came, Said, Safe  int64
	Giving            map[string]Gift
}

type (
	Standing struct {
		Stood       int64
		Name        []group.ViewId
		Declared    bool
		After, Upto int64
	}
	Given struct {
		Seen     Seen
		Declared bool
	}
	Held struct {
		Sender  string
		Number  int64
		Payload wire.Payload
	}
	// Gift is a transfer to a member. Number: the next part. Credit: the last part that the member has room for.
	Gift struct {
		Attempt, Number, Credit int64
		Seen                    Seen
	}

	// App, Ask and Tell are in the order.
	App struct {
		_       wire.Tag `wire:"APP"`
		Number  int64
		Size    int64
		Payload wire.Payload
	}
	Ask struct {
		_        wire.Tag `wire:"ASK"`
		Provider string
		Attempt  int64
	}
	Tell struct {
		_        wire.Tag `wire:"TELL"`
		ViewId   group.ViewId
		Standing Standing
	}

	// Part, Credit and Cannot are unicasts.
	Part struct {
		_               wire.Tag `wire:"PART"`
		Attempt, Number int64
		Data            wire.Payload
		Last            bool
		Seen            Seen
		Declared        bool
	}
	Credit struct {
		_               wire.Tag `wire:"CREDIT"`
		Attempt, Number int64
	}
	Cannot struct {
		_       wire.Tag `wire:"CANNOT"`
		Attempt int64
	}
)

type (
	// Event is one of the structs below.
	Event any

	// SendRequested: Size are the bytes of the payload.
	SendRequested struct {
		_       wire.Tag `wire:"SendRequested"`
		Payload wire.Payload
		Size    int64
	}
	AppReceived struct {
		_       wire.Tag `wire:"AppReceived"`
		Sender  string
		Message App
	}
	AskReceived struct {
		_       wire.Tag `wire:"AskReceived"`
		Sender  string
		Message Ask
	}
	TellReceived struct {
		_       wire.Tag `wire:"TellReceived"`
		Sender  string
		Message Tell
	}
	PartRead struct {
		_               wire.Tag `wire:"PartRead"`
		To              string
		Attempt, Number int64
		Data            wire.Payload
		Last            bool
	}
	PartFailed struct {
		_       wire.Tag `wire:"PartFailed"`
		To      string
		Attempt int64
	}
	PartReceived struct {
		_       wire.Tag `wire:"PartReceived"`
		Sender  string
		Message Part
	}
	CreditReceived struct {
		_       wire.Tag `wire:"CreditReceived"`
		Sender  string
		Message Credit
	}
	CannotReceived struct {
		_       wire.Tag `wire:"CannotReceived"`
		Sender  string
		Message Cannot
	}
	AskTimeout struct {
		_ wire.Tag `wire:"AskTimeout"`
	}
	SoonTimeout struct {
		_ wire.Tag `wire:"SoonTimeout"`
	}
	DeclareRequested struct {
		_ wire.Tag `wire:"DeclareRequested"`
	}
)

// What is passed up.
type (
	MarkState struct {
		_       wire.Tag `wire:"MarkState"`
		To      string
		Attempt int64
	}
	ReadPart struct {
		_               wire.Tag `wire:"ReadPart"`
		To              string
		Attempt, Number int64
	}
	FreeState struct {
		_  wire.Tag `wire:"FreeState"`
		To string
	}
	PutPart struct {
		_      wire.Tag `wire:"PutPart"`
		Number int64
		Data   wire.Payload
	}
	StateSet struct {
		_ wire.Tag `wire:"StateSet"`
	}
	OwnIsInState struct {
		_      wire.Tag `wire:"OwnIsInState"`
		Number int64
	}
	StateKept struct {
		_ wire.Tag `wire:"StateKept"`
	}
	StateDropped struct {
		_ wire.Tag `wire:"StateDropped"`
	}
	NoState struct {
		_ wire.Tag `wire:"NoState"`
	}
	StateDeclared struct {
		_ wire.Tag `wire:"StateDeclared"`
	}
	Full struct {
		_ wire.Tag `wire:"Full"`
	}
	Room struct {
		_ wire.Tag `wire:"Room"`
	}
)

func init() {
	wire.Union[Event](SendRequested{}, AppReceived{}, AskReceived{}, TellReceived{}, PartRead{}, PartFailed{},
		PartReceived{}, CreditReceived{}, CannotReceived{}, AskTimeout{}, SoonTimeout{}, DeclareRequested{},
		group.SafeUpTo{}, group.UnknownUpTo{}, group.ViewFormed{}, group.ViewInstalled{}, group.MergeViewInstalled{})
}

// Package group has what all protocols share: spec/common/Steps.tla, Views.tla and Digests.tla.
package group

import "groupcomm.example/port/wire"

// The outcome of a step.
const (
	HANDLED      = "handled"
	IGNORED      = "ignored"
	LOCAL_ERROR  = "local_error"
	REMOTE_ERROR = "remote_error"
)

// Effect is one of the structs below.
type Effect any

// Effects are in the order in which they are to be done.
type Effects []Effect

// Result is what Step gives. A step that is not handled leaves the state as it was, and has no effects.
type Result[S any] struct {
	Outcome string
	State   S
	Effects Effects
}

func Handled[S any](s S, effects Effects) Result[S] { return Result[S]{HANDLED, s, effects} }
func Ignored[S any](s S) Result[S]                  { return Result[S]{IGNORED, s, nil} }
func LocalError[S any](s S) Result[S]               { return Result[S]{LOCAL_ERROR, s, nil} }
func RemoteError[S any](s S) Result[S]              { return Result[S]{REMOTE_ERROR, s, nil} }

// All stands for every member, in a Datagram.
const All = "*"

type Send struct {
	_       wire.Tag `wire:"Send"`
	To      string
	Message any
}

type Multicast struct {
	_       wire.Tag `wire:"Multicast"`
	Message any
}

type Datagram struct {
	_       wire.Tag `wire:"Datagram"`
	To      string
	Message any
}

type PassUp struct {
	_     wire.Tag `wire:"PassUp"`
	Event any
}

type PassDown struct {
	_     wire.Tag `wire:"PassDown"`
	Event any
}

type SetTimer struct {
	_         wire.Tag `wire:"SetTimer"`
	Name      string
	Low, High int64
}

type CancelTimer struct {
	_    wire.Tag `wire:"CancelTimer"`
	Name string
}

// SendAll sends the same to some members, in their order in list.
func SendAll(list []string, to Set[string], message any) Effects {
	var sends Effects
	for _, m := range list {
		if to.Has(m) {
			sends = append(sends, Send{To: m, Message: message})
		}
	}
	return sends
}

// Join is the concatenation of lists, in a list of its own.
func Join[T any, L ~[]T](lists ...L) L {
	var all L
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

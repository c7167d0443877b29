package group

import "groupcomm.example/port/wire"

// Events that are one protocol's effect and another's event, or that several protocols have.

type ViewInstalled struct {
	_    wire.Tag `wire:"ViewInstalled"`
	View View
}

type MergeViewInstalled struct {
	_         wire.Tag `wire:"MergeViewInstalled"`
	View      View
	Subgroups Set[ViewId]
}

// ViewFormed: messages are ordered in this view.
type ViewFormed struct {
	_      wire.Tag `wire:"ViewFormed"`
	ViewId ViewId
	Before int64
}

// SafeUpTo and UnknownUpTo: SAFE tells of the own multicasts up to Number.
type SafeUpTo struct {
	_      wire.Tag `wire:"SafeUpTo"`
	Number int64
}

type UnknownUpTo struct {
	_      wire.Tag `wire:"UnknownUpTo"`
	Number int64
}

type Suspected struct {
	_       wire.Tag `wire:"Suspected"`
	Suspect string
}

type SilenceReported struct {
	_    wire.Tag `wire:"SilenceReported"`
	Peer string
}

type Suspend struct {
	_     wire.Tag `wire:"Suspend"`
	Asker string
}

type Resume struct {
	_     wire.Tag `wire:"Resume"`
	Asker string
}

type GroupStopped struct {
	_     wire.Tag `wire:"GroupStopped"`
	Asker string
}

type GetDigest struct {
	_       wire.Tag `wire:"GetDigest"`
	Asker   string
	Request int64
}

type DigestGiven struct {
	_       wire.Tag `wire:"DigestGiven"`
	Asker   string
	Request int64
	Digest  map[string]int64
}

type DigestPromised struct {
	_  wire.Tag `wire:"DigestPromised"`
	To string
}

type PromiseWithdrawn struct {
	_  wire.Tag `wire:"PromiseWithdrawn"`
	To string
}

type Deliver struct {
	_       wire.Tag `wire:"Deliver"`
	Sender  string
	Payload wire.Payload
}

type DeliverUnicast struct {
	_       wire.Tag `wire:"DeliverUnicast"`
	Sender  string
	Payload wire.Payload
}

type SendRequested struct {
	_       wire.Tag `wire:"SendRequested"`
	Payload wire.Payload
}

type UnicastRequested struct {
	_       wire.Tag `wire:"UnicastRequested"`
	To      string
	Payload wire.Payload
}

// Events between the multicast layer and the layers above.

type MessageReceived struct {
	_    wire.Tag `wire:"MessageReceived"`
	Size int64
}

type HoldBack struct {
	_     wire.Tag `wire:"HoldBack"`
	Limit map[string]int64
}

type Release struct {
	_ wire.Tag `wire:"Release"`
}

type Fetch struct {
	_              wire.Tag `wire:"Fetch"`
	Holder, Sender string
	Upto           int64
}

type Purge struct {
	_      wire.Tag `wire:"Purge"`
	Digest map[string]int64
}

type DigestSet struct {
	_      wire.Tag `wire:"DigestSet"`
	Digest map[string]int64
}

type WindowsAdded struct {
	_      wire.Tag `wire:"WindowsAdded"`
	Digest map[string]int64
}

// NothingToConfigure is the configuration of a protocol whose members have none.
type NothingToConfigure struct{}

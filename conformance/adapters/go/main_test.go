package main

import (
	"bytes"
	"strings"
	"testing"

	"groupcomm.example/port/flush"
	"groupcomm.example/port/gms"
	"groupcomm.example/port/group"
	"groupcomm.example/port/mergegms"
	"groupcomm.example/port/nakack"
	"groupcomm.example/port/safe"
	"groupcomm.example/port/sequencer"
	"groupcomm.example/port/statetransfer"
	"groupcomm.example/port/unicast"
	"groupcomm.example/port/wire"
)

// Cases that the rows of the models do not have.

func TestAddressesOfOneName(t *testing.T) {
	for _, each := range []struct {
		a, b   string
		former bool
	}{
		{"A", "A#2", true}, {"A#2", "A", false}, {"A#2", "A#10", true}, {"A#9", "A#10", true}, {"A#2", "A#2", false},
		{"A", "B#2", false}, {"A", "A#", false}, {"A", "A#x", false}, {"A#2", "A#2#3", false}, {"#2", "#3", false},
		{"A#2", "A#99999999999999999999", true}, {"A", "A#02", true}, {"A#02", "A#2", false},
	} {
		if group.IsFormer(each.a, each.b) != each.former {
			t.Errorf("IsFormer(%q, %q) is not %v", each.a, each.b, each.former)
		}
	}
}

func TestWhatIsReadIsWritten(t *testing.T) {
	for _, text := range []string{
		`{"type":"DATA","view_id":{"counter":1,"creator":"A\"é\n"},"seqno":"9007199254740993","payload":{"x":[null,1.5,"\\"]}}`,
		`{"type":"DATA","view_id":{"counter":-9007199254740991,"creator":""},"seqno":0,"payload":0}`,
	} {
		var data struct {
			_       wire.Tag `wire:"DATA"`
			ViewId  group.ViewId
			Seqno   int64
			Payload wire.Payload
		}
		if err := wire.Decode([]byte(text), &data); err != nil {
			t.Fatal(err)
		}
		if got := string(wire.Append(nil, data)); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestPairsAreReadAndWritten(t *testing.T) {
	const state = `{"connection":{"incarnation":0,"number":1},"delivered":0,"ahead":[[2,"b"],[4,null]]}`
	var window unicast.Window
	if err := wire.Decode([]byte(state), &window); err == nil {
		t.Error("null was read as a payload")
	}
	good := strings.Replace(state, "null", "[1]", 1)
	if err := wire.Decode([]byte(good), &window); err != nil {
		t.Fatal(err)
	}
	if got := string(wire.Append(nil, window)); got != good {
		t.Errorf("%s became %s", good, got)
	}
	var pending map[int64]wire.Payload
	if err := wire.Decode([]byte(`[[4,"d"],[1,"a"]]`), &pending); err != nil {
		t.Fatal(err)
	}
	if got := string(wire.Append(nil, pending)); got != `[[1,"a"],[4,"d"]]` {
		t.Errorf("became %s", got)
	}
	for _, text := range []string{`[[1,"a"],[1,"b"]]`, `[[1]]`, `[[1,"a",2]]`, `{"1":"a"}`, `[["x","a"]]`} {
		if err := wire.Decode([]byte(text), &pending); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestAllGapsOfASenderAreAskedFor(t *testing.T) {
	view := group.View{Id: group.ViewId{Counter: 1, Creator: "A"}, Members: []string{"A", "B"}}
	config := nakack.Config{HighestInterval: 2, RequestDelay: 1, FirstAsked: 4}
	s := nakack.Step(config, nakack.Start("B"), group.ViewInstalled{View: view}).State
	for _, n := range []int64{1, 3} {
		data := nakack.Data{ViewId: view.Id, Origin: "A", Seqno: n, Payload: wire.Payload("0")}
		s = nakack.Step(config, s, nakack.DataReceived{Sender: "A", Message: data}).State
	}
	request := nakack.Step(config, s, nakack.RequestTimeout{}).Effects[0].(group.Datagram).Message.(nakack.XmitReq)
	if want := []nakack.Range{{First: 0, Last: 0}, {First: 2, Last: 2}}; !group.Same(request.Ranges, want) {
		t.Errorf("asks for %v, not for %v", request.Ranges, want)
	}
}

// A list with room behind its end is shared by all that append to it.
func sharesNothing[C, S, E any](t *testing.T, step func(C, S, E) group.Result[S], c C, s S, event func(payload string) E) {
	for i := 0; i < 6; i++ {
		one := step(c, s, event("1")).State
		text := string(wire.Append(nil, one))
		step(c, s, event("2"))
		if after := string(wire.Append(nil, one)); after != text {
			t.Fatalf("%s became %s", text, after)
		}
		s = one
	}
}

func TestTwoStepsFromOneStateShareNothing(t *testing.T) {
	view := group.View{Id: group.ViewId{Counter: 1, Creator: "A"}, Members: []string{"A", "B"}}
	sent := func(payload string) group.SendRequested { return group.SendRequested{Payload: wire.Payload(payload)} }
	waiting := flush.Start("B")
	waiting.View, waiting.Latched = view, true
	sharesNothing(t, flush.Step, group.NothingToConfigure{}, waiting, func(p string) flush.Event { return sent(p) })
	sequenced := sequencer.State{Member: "B", View: view, Formed: true}
	sharesNothing(t, sequencer.Step, sequencer.Config{}, sequenced, func(p string) sequencer.Event { return sent(p) })
	kept := nakack.Step(nakack.Config{}, nakack.Start("B"), group.ViewInstalled{View: view}).State
	sharesNothing(t, nakack.Step, nakack.Config{}, kept, func(p string) nakack.Event { return sent(p) })
	held := statetransfer.State{Member: "B", View: view, Settled: true, Provider: "A", Marked: true}
	sharesNothing(t, statetransfer.Step, statetransfer.Config{FullAt: 9, MaxHeld: 9}, held, func(p string) statetransfer.Event {
		return statetransfer.AppReceived{Sender: "A", Message: statetransfer.App{Number: 1, Size: 1, Payload: wire.Payload(p)}}
	})
}

func TestAllQuestionsOfWhoIsAnsweredAreForgotten(t *testing.T) {
	id := func(counter int64) group.ViewId { return group.ViewId{Counter: counter, Creator: "C"} }
	question := func(counter int64) mergegms.Word {
		return mergegms.Word{Sender: "B", Message: gms.Query{ViewId: id(counter)}}
	}
	lives := map[string]int64{"A": 0, "B": 0, "C": 0}
	decision := group.Decision{Id: id(1), Members: []string{"C", "A", "B"}, Lives: lives}
	s := mergegms.Start("A")
	s.Gms.Decision, s.Early = decision, []mergegms.Word{question(2), question(3)}
	other := decision
	other.Id = id(4)
	r := mergegms.Step(mergegms.Config{}, s, gms.AnswerReceived{Sender: "C", Message: gms.Answer{ViewId: id(2), Decision: other}})
	if r.Outcome != group.HANDLED || len(r.Effects) != 1 || len(r.State.Early) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsUndecidedIsNotSafe(t *testing.T) {
	id := func(counter int64, creator string) group.ViewId {
		return group.ViewId{Counter: counter, Creator: creator}
	}
	both := []string{"A", "B"}
	view := group.View{Id: id(2, "A"), Members: both}
	waits := safe.State{Member: "A", View: view, Sent: 1, Had: map[string]int64{"A": 1}, Before: 1, Among: both}
	asks := waits
	asks.Asks = true
	next := group.ViewInstalled{View: group.View{Id: id(3, "A"), Members: []string{"A"}}}
	formed := safe.State{Member: "A", View: view, Formed: id(3, "B"), Sent: 1, Had: map[string]int64{"A": 1}, Among: both}
	ack := safe.AckReceived{Sender: "B", Message: safe.Ack{ViewId: view.Id, Number: 1}}
	for name, each := range map[string]struct {
		state safe.State
		event safe.Event
		up    group.Effects
	}{
		"a view that is not formed":       {waits, ack, nil},
		"a merge that the next view ends": {asks, next, group.Effects{group.PassUp{Event: group.UnknownUpTo{Number: 1}}}},
		"another view is formed":          {formed, next, nil},
	} {
		r := safe.Step(safe.Config{Majority: true}, each.state, each.event)
		if got, want := string(wire.Append(nil, r.Effects)), string(wire.Append(nil, each.up)); r.Outcome != group.HANDLED || got != want {
			t.Errorf("%s: %s %s, not %s", name, r.Outcome, got, want)
		}
	}
}

func TestBadInputIsAnError(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"counter":1}`, `{"counter":1,"creator":"A","more":1}`, `{"counter":1,"counter":2,"creator":"A"}`,
		`{"counter":1.5,"creator":"A"}`, `{"counter":true,"creator":"A"}`, `{"counter":1,"creator":1}`,
		`{"counter":1,"creator":"A"} 1`, `{"counter":99999999999999999999,"creator":"A"}`, `{"counter":1,"creator":"A`, `null`,
	} {
		if err := wire.Decode([]byte(text), &group.ViewId{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestAdapterGoesOnAfterAnError(t *testing.T) {
	in := strings.Join([]string{
		`{"seq":1,"do":"step","state":{},"event":{}}`,
		`{"do":"configure","seq":2,"config":{},"protocol":"nothing"}`,
		`{"seq":3,"do":"configure","protocol":"flush","config":{}}`,
		`{"seq":4,"do":"start","member":"A"}`,
		`{"seq":5,"do":"event","member":"A","event":{"type":"StopIt"}}`,
		`{"seq":6,"do":"event","member":"B","event":{"type":"BlockReturned"}}`,
		`{"seq":7,"do":"event","member":"A","event":{"type":"BlockReturned"}}`,
		`{"seq":8,"do":"stop"}`,
	}, "\n")
	var out bytes.Buffer
	if err := serve(strings.NewReader(in+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if err := wire.Members([]byte(line), func(key string, raw []byte) error {
			if key != "seq" {
				kinds = append(kinds, key)
			} else if string(raw) != string(rune('1'+i)) {
				t.Errorf("answer %d is to %s", i+1, raw)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(kinds, " "); got != "error error ok ok error error outcome ok" {
		t.Error(got)
	}
}

// The adapter of a port of groupcomm's protocols (docs/porting.md): requests on stdin, answers on stdout, a line each.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"

	"groupcomm.example/port/fileping"
	"groupcomm.example/port/flush"
	"groupcomm.example/port/gms"
	"groupcomm.example/port/group"
	"groupcomm.example/port/heartbeat"
	"groupcomm.example/port/merge"
	"groupcomm.example/port/mergegms"
	"groupcomm.example/port/nakack"
	"groupcomm.example/port/safe"
	"groupcomm.example/port/sequencer"
	"groupcomm.example/port/stable"
	"groupcomm.example/port/statetransfer"
	"groupcomm.example/port/unicast"
	"groupcomm.example/port/wire"
)

var protocols = map[string]func(config []byte) (machine, error){
	"file_ping":      protocol(fileping.Start, fileping.Step),
	"flush":          protocol(flush.Start, flush.Step),
	"gms":            protocol(gms.Start, gms.Step),
	"heartbeat":      protocol(heartbeat.Start, heartbeat.Step),
	"merge":          protocol(merge.Start, merge.Step),
	"merge_gms":      protocol(mergegms.Start, mergegms.Step),
	"nakack":         protocol(nakack.Start, nakack.Step),
	"safe":           protocol(safe.Start, safe.Step),
	"sequencer":      protocol(sequencer.Start, sequencer.Step),
	"stable":         protocol(stable.Start, stable.Step),
	"state_transfer": protocol(statetransfer.Start, statetransfer.Step),
	"unicast":        protocol(unicast.Start, unicast.Step),
}

// A machine is a protocol with its configuration. States are values of the protocol's own type, and do not change.
type machine interface {
	start(member string) any
	state(raw []byte) (any, error)
	step(state any, event []byte) (group.Result[any], error)
}

type core[C, S, E any] struct {
	config C
	begin  func(member string) S
	next   func(C, S, E) group.Result[S]
}

func protocol[C, S, E any](begin func(string) S, next func(C, S, E) group.Result[S]) func([]byte) (machine, error) {
	return func(raw []byte) (machine, error) {
		made := core[C, S, E]{begin: begin, next: next}
		err := wire.Decode(raw, &made.config)
		return made, err
	}
}

func (c core[C, S, E]) start(member string) any { return c.begin(member) }

func (c core[C, S, E]) state(raw []byte) (any, error) {
	var s S
	err := wire.Decode(raw, &s)
	return s, err
}

func (c core[C, S, E]) step(state any, raw []byte) (group.Result[any], error) {
	var event E
	if err := wire.Decode(raw, &event); err != nil {
		return group.Result[any]{}, fmt.Errorf("event: %w", err)
	}
	r := c.next(c.config, state.(S), event)
	return group.Result[any]{Outcome: r.Outcome, State: r.State, Effects: r.Effects}, nil
}

// A request, as far as it says something. The others' raw values are parts of the line.
type request struct {
	seq, do, protocol, member string
	config, state, event      []byte
	at, keep                  string
}

func parse(line []byte) (q request, err error) {
	texts := map[string]*string{"do": &q.do, "protocol": &q.protocol, "member": &q.member}
	err = wire.Members(line, func(key string, raw []byte) error {
		switch key {
		case "seq":
			q.seq = string(raw)
		case "at":
			q.at = string(raw)
		case "keep":
			q.keep = string(raw)
		case "config":
			q.config = raw
		case "state":
			q.state = raw
		case "event":
			q.event = raw
		case "adapter", "groupcomm":
		default:
			if text, ok := texts[key]; ok {
				return wire.Decode(raw, text)
			}
			return errors.New("no field of a request")
		}
		return nil
	})
	if err == nil && q.seq == "" {
		err = errors.New("a request has no seq")
	}
	return q, err
}

// An adapter between two requests. `kept`: states under numbers. `members`: the members that were started.
type adapter struct {
	machine machine
	kept    map[string]any
	members map[string]any
}

var errUnknown = errors.New("there is no state of that number or member")

// answer gives what follows the seq in the answer to q.
func (a *adapter) answer(b []byte, q request) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = b, fmt.Errorf("panic: %v", p)
		}
	}()
	switch q.do {
	case "hello":
		return append(b, `"adapter":1,"name":"groupcomm-go","version":"1","language":"go","protocols":[`+names()+
			`],"can":["step","keep","start","read"]`...), nil
	case "configure":
		of, ok := protocols[q.protocol]
		if !ok {
			return b, fmt.Errorf("no protocol %q here", q.protocol)
		}
		m, err := of(q.config)
		if err != nil {
			return b, fmt.Errorf("configuration: %w", err)
		}
		*a = adapter{machine: m, kept: map[string]any{}, members: map[string]any{}}
		return append(b, `"ok":true`...), nil
	case "stop":
		return append(b, `"ok":true`...), nil
	}
	if a.machine == nil {
		return b, errors.New("configure comes first")
	}
	switch q.do {
	case "step":
		state, err := a.given(q)
		if err != nil {
			return b, err
		}
		r, err := a.machine.step(state, q.event)
		if err != nil {
			return b, err
		}
		if q.keep != "" {
			a.kept[q.keep] = r.State
		}
		if b = outcome(b, r); r.Outcome == group.HANDLED {
			b = wire.Append(append(b, `,"state":`...), r.State)
		}
		return b, nil
	case "keep":
		state, err := a.given(q)
		if err != nil {
			return b, err
		}
		a.kept[q.keep] = state
		return append(b, `"ok":true`...), nil
	case "read":
		state, ok := a.kept[q.at]
		if q.at == "" {
			state, ok = a.members[q.member]
		}
		if !ok {
			return b, errUnknown
		}
		return wire.Append(append(b, `"state":`...), state), nil
	case "start":
		a.members[q.member] = a.machine.start(q.member)
		return append(b, `"ok":true`...), nil
	case "event":
		state, ok := a.members[q.member]
		if !ok {
			return b, errUnknown
		}
		r, err := a.machine.step(state, q.event)
		if err != nil {
			return b, err
		}
		a.members[q.member] = r.State
		return outcome(b, r), nil
	}
	return b, fmt.Errorf("no request %q", q.do)
}

// given is the state in a request, or the state kept under the number in it.
func (a *adapter) given(q request) (any, error) {
	if q.at == "" {
		state, err := a.machine.state(q.state)
		if err != nil {
			err = fmt.Errorf("state: %w", err)
		}
		return state, err
	}
	state, ok := a.kept[q.at]
	if !ok {
		return nil, errUnknown
	}
	return state, nil
}

func outcome(b []byte, r group.Result[any]) []byte {
	b = append(append(append(b, `"outcome":"`...), r.Outcome...), '"')
	if r.Outcome == group.HANDLED {
		b = wire.Append(append(b, `,"effects":`...), r.Effects)
	}
	return b
}

// unanswerable ends it: there is no seq to answer to.
func unanswerable(w *bufio.Writer, err error) error {
	if failed := w.Flush(); failed != nil {
		return failed
	}
	return fmt.Errorf("no request: %w", err)
}

func names() string {
	var list []string
	for name := range protocols {
		list = append(list, strconv.Quote(name))
	}
	sort.Strings(list)
	return strings.Join(list, ",")
}

// serve answers request after request. An answer is written out before it waits for more.
func serve(in io.Reader, out io.Writer) error {
	lines, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)
	var a adapter
	var b, long []byte
	for {
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; err == bufio.ErrBufferFull; line, err = lines.ReadSlice('\n') {
			long = append(long, line...)
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = line
		}
		if err == io.EOF && len(bytes.TrimSpace(line)) == 0 {
			return w.Flush()
		}
		if err != nil && err != io.EOF {
			return err
		}
		q, err := parse(line)
		if err != nil {
			return unanswerable(w, err)
		}
		head := append(append(append(b[:0], `{"seq":`...), q.seq...), ',')
		if b, err = a.answer(head, q); err != nil {
			text := err.Error()
			b = wire.Append(append(head, `"error":`...), text)
		}
		b = append(b, '}', '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
		waiting, _ := lines.Peek(lines.Buffered())
		if q.do == "stop" || bytes.IndexByte(waiting, '\n') < 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if q.do == "stop" {
			return nil
		}
	}
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "groupcomm-go:", err)
		os.Exit(1)
	}
}

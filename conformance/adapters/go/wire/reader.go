package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// What is wrong with what came. It goes up as a panic, as far as Decode and Members.
type badInput struct{ error }

func rescue(err *error) {
	if p := recover(); p != nil {
		bad, ok := p.(badInput)
		if !ok {
			panic(p)
		}
		*err = bad.error
	}
}

// A reader is at place `at` of a text of JSON.
type reader struct {
	data []byte
	at   int
}

func (r *reader) fail(format string, args ...any) {
	panic(badInput{fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))})
}

// The next byte that is no space; it stays.
func (r *reader) next() byte {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return c
		}
	}
	return 0
}

func (r *reader) end() {
	if r.next() != 0 {
		r.fail("more than one value")
	}
}

func (r *reader) take(c byte) {
	if r.next() != c {
		r.fail("%q is expected", c)
	}
	r.at++
}

func (r *reader) word(w string) {
	if r.next(); len(r.data)-r.at < len(w) || string(r.data[r.at:r.at+len(w)]) != w {
		r.fail("%s is expected", w)
	}
	r.at += len(w)
}

// each calls visit for each item between two brackets.
func (r *reader) each(open, end byte, visit func()) {
	r.take(open)
	if r.next() == end {
		r.at++
		return
	}
	for {
		visit()
		if r.next() != ',' {
			r.take(end)
			return
		}
		r.at++
	}
}

func (r *reader) array(visit func()) { r.each('[', ']', visit) }

func (r *reader) object(visit func(key string)) {
	r.each('{', '}', func() {
		key := r.text()
		r.take(':')
		visit(key)
	})
}

func (r *reader) text() string {
	r.take('"')
	from := r.at
	for ; r.at < len(r.data); r.at++ {
		switch c := r.data[r.at]; {
		case c == '"':
			r.at++
			return string(r.data[from : r.at-1])
		case c == '\\':
			return r.escaped(from - 1)
		}
	}
	r.fail("a string has no end")
	return ""
}

// A string with a backslash in it, whose quotation mark is at `from`.
func (r *reader) escaped(from int) string {
	for ; r.at < len(r.data) && r.data[r.at] != '"'; r.at++ {
		if r.data[r.at] == '\\' {
			r.at++
		}
	}
	if r.at++; r.at > len(r.data) {
		r.fail("a string has no end")
	}
	var text string
	if err := json.Unmarshal(r.data[from:r.at], &text); err != nil {
		r.fail("no string: %v", err)
	}
	return text
}

func (r *reader) integer() int64 {
	var text string
	if r.next() == '"' {
		text = r.text()
	} else {
		from := r.at
		for r.at < len(r.data) && (r.data[r.at] == '-' || '0' <= r.data[r.at] && r.data[r.at] <= '9') {
			r.at++
		}
		text = string(r.data[from:r.at])
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail("no integer of 64 bits: %q", text)
	}
	return n
}

func (r *reader) boolean() bool {
	if r.next() == 't' {
		r.word("true")
		return true
	}
	r.word("false")
	return false
}

// raw gives the next value as it stands.
func (r *reader) raw() []byte {
	r.next()
	from := r.at
	r.skip()
	return r.data[from:r.at]
}

func (r *reader) skip() {
	switch c := r.next(); c {
	case '{':
		r.object(func(string) { r.skip() })
	case '[':
		r.array(r.skip)
	case '"':
		r.text()
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	case 'n':
		r.word("null")
	default:
		from := r.at
		for r.at < len(r.data) && isOfNumber(r.data[r.at]) {
			r.at++
		}
		if _, err := strconv.ParseFloat(string(r.data[from:r.at]), 64); err != nil {
			r.fail("no value")
		}
	}
}

func isOfNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// peekType gives the "type" of the object that is next, and stays before it.
func (r *reader) peekType() string {
	from, found := r.at, ""
	defer func() { r.at = from }()
	r.take('{')
	if r.next() != '"' || r.text() != "type" { // it is not the first
		r.at = from
		r.object(func(key string) {
			if key == "type" {
				found = r.text()
			} else {
				r.skip()
			}
		})
		return found
	}
	r.take(':')
	return r.text()
}

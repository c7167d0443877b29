package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// An error in the input. It goes up as a panic, as far as Decode and Members.
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

func (r *reader) object(visit func(key string)) {
	r.each('{', '}', func() {
		key := r.text()
		r.take(':')
		visit(key)
	})
}

// quoted gives the next string with its quotation marks.
func (r *reader) quoted() (raw []byte, escaped bool) {
	r.take('"')
	for from := r.at - 1; r.at < len(r.data); r.at++ {
		switch r.data[r.at] {
		case '"':
			r.at++
			return r.data[from:r.at], escaped
		case '\\':
			escaped = true
			r.at++
		}
	}
	r.fail("a string has no end")
	return nil, false
}

func (r *reader) text() (text string) {
	raw, escaped := r.quoted()
	if !escaped {
		return string(raw[1 : len(raw)-1])
	}
	if err := json.Unmarshal(raw, &text); err != nil {
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

// skip passes over a value. (Of what is in it, it sees the brackets and the strings.)
func (r *reader) skip() {
	switch c := r.next(); c {
	case '{':
		r.each('{', '}', func() {
			r.quoted()
			r.take(':')
			r.skip()
		})
	case '[':
		r.each('[', ']', r.skip)
	case '"':
		r.quoted()
	default:
		from := r.at
		for r.at < len(r.data) && isOfWord(r.data[r.at]) {
			r.at++
		}
		if r.at == from {
			r.fail("a value is expected")
		}
	}
}

// Of a number, true, false or null.
func isOfWord(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
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

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var (
	errLong = fmt.Errorf("message of more than %d bytes", MaxMessage)
	errHalf = errors.New("the connection ended in the middle of a message")
)

// lines cuts what is read into messages.
type lines struct {
	buf []byte // what was read of the next ones
}

// next returns the next message without its newline, valid until the following call; read reads more.
// The error is io.EOF only between messages.
func (l *lines) next(read func(p []byte, begun bool) (int, error)) ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(l.buf[seen:], '\n'); i >= 0 {
			line := l.buf[:seen+i]
			l.buf = l.buf[seen+i+1:]
			return line, nil
		}
		seen = len(l.buf)
		if seen >= MaxMessage {
			return nil, errLong
		}
		if cap(l.buf) == seen { // room for as much again: what really comes decides, not what is announced
			l.buf = append(make([]byte, 0, min(max(firstRoom, 2*seen), MaxMessage)), l.buf...)
		}
		n, err := read(l.buf[seen:cap(l.buf)], seen > 0)
		if n > 0 {
			l.buf = l.buf[:seen+n]
			continue
		}
		if errors.Is(err, io.EOF) && seen > 0 {
			err = errHalf
		}
		if err == nil {
			err = io.ErrNoProgress
		}
		return nil, err
	}
}

const firstRoom = 1 << 10

// encode returns a message with its newline.
func encode(message any) ([]byte, error) {
	b, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	if len(b) >= MaxMessage {
		return nil, errLong
	}
	return append(b, '\n'), nil
}

// ParseRequest reads what a client sent, and keeps the limits that all requests have.
func ParseRequest(line []byte) (*Request, error) {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if len(r.Names) > MaxNames {
		return nil, fmt.Errorf("request with %d names: at most %d", len(r.Names), MaxNames)
	}
	if s := r.Session; s != nil && len(s.Patterns) > MaxNames {
		return nil, fmt.Errorf("request with %d patterns: at most %d", len(s.Patterns), MaxNames)
	}
	return &r, nil
}

// ParseAnswer reads what an agent answered.
func ParseAnswer(line []byte) (*Answer, error) {
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return &a, nil
}

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// reader hands out a stream in pieces, as a socket may.
type reader struct {
	b     []byte
	piece int
}

func (r *reader) read(p []byte, _ bool) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(len(r.b), r.piece)])
	r.b = r.b[n:]
	return n, nil
}

// all reads every message of a stream.
func all(b []byte, piece int) (messages [][]byte, err error) {
	r := &reader{b, piece}
	var l lines
	for {
		line, err := l.next(r.read)
		if err != nil {
			return messages, err
		}
		messages = append(messages, bytes.Clone(line))
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxMessage-1)
	for _, tt := range []struct {
		stream string
		n      int
		err    error
	}{
		{"", 0, io.EOF},
		{"a\nb\n", 2, io.EOF},
		{"\n\n", 2, io.EOF},
		{"a\nb", 1, errHalf},
		{long + "\n" + long + "\n", 2, io.EOF},
		{long + "y\n", 0, errLong},
		{"a\n" + long + "yy", 1, errLong},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			if m, err := all([]byte(tt.stream), piece); len(m) != tt.n || !errors.Is(err, tt.err) {
				t.Errorf("%.20q (%d bytes) in pieces of %d: %d messages and %v, want %d and %v", tt.stream, len(tt.stream), piece, len(m), err, tt.n, tt.err)
			}
		}
	}
}

// However a stream is cut into pieces it holds the same messages, and none is longer than
// the limit; what an agent and a client make of them is bounded, and never a panic.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"do":"hello","version":2}` + "\n",
		`{"do":"arm","names":["a:b","c:d"]}` + "\n" + `{"do":"record","session":{"patterns":["*"],"mode":"discard","where":"n > 1"}}` + "\n",
		`{"process":{"version":2,"pid":7}}` + "\n" + `{"more":true,"point":{"kind":"key","name":"a:b"}}` + "\n" + `{"error":{"code":"where","text":"no","column":3}}` + "\n",
		"\x00\xff\n{}\n[]\nnull\n\"x\"\n", `{"names":[` + strings.Repeat(`"",`, 2000) + `""]}` + "\n",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		whole, err := all(stream, len(stream)+1)
		if !errors.Is(err, io.EOF) && !errors.Is(err, errHalf) && !errors.Is(err, errLong) {
			t.Fatal(err)
		}
		pieces, _ := all(stream, min(max(piece, 1), 100))
		if len(whole) != len(pieces) {
			t.Fatalf("%d messages, in pieces %d", len(whole), len(pieces))
		}
		for i, m := range whole {
			if !bytes.Equal(m, pieces[i]) || len(m) >= MaxMessage {
				t.Fatalf("message %d: %q and %q", i, m, pieces[i])
			}
			if r, err := ParseRequest(m); err == nil && (len(r.Names) > MaxNames || r.Session != nil && len(r.Session.Patterns) > MaxNames) {
				t.Fatalf("a request with %d names", len(r.Names))
			}
			if a, err := ParseAnswer(m); err == nil {
				if _, err := json.Marshal(a); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

package term

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriterEscapes(t *testing.T) {
	const text = "a\x1b[1mb\x1b[0m\tc\n\x1b[31m\x1b]0;t\a\u009b2J\u202e\xff\x00é\r"
	for styled, want := range map[bool]string{
		false: `a\x1b[1mb\x1b[0m` + "\tc\n" + `\x1b[31m\x1b]0;t\a\u009b2J\u202e\xff\x00é\r`,
		true:  "a\x1b[1mb\x1b[0m\tc\n" + `\x1b[31m\x1b]0;t\a\u009b2J\u202e\xff\x00é\r`,
	} {
		var b bytes.Buffer
		n, err := (&Writer{to: &b, styled: styled}).Write([]byte(text))
		if n != len(text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("styled %v (-want +got):\n%s", styled, d)
		}
	}
}

// Whatever is in an argument, a line is one line, and a message one message.
func TestOneLine(t *testing.T) {
	var b bytes.Buffer
	const name = "x\nwaymark: hint: \x1b[2Jrun this"
	if err := Linef(&b, "name %s, %d", name, 1); err != nil {
		t.Fatal(err)
	}
	e := NewEnv(Streams{Stderr: &b})
	e.Message("name %s", name)
	e.Warning("%v", fmt.Errorf("a: %w", errors.Join(errors.New(name), errors.New("b"))))
	e.Stdin = strings.NewReader("Yes \n")
	if got := e.Ask("%s?", name); got != "Yes" {
		t.Errorf("answer %q", got)
	}
	quoted := `x\nwaymark: hint: \x1b[2Jrun this`
	want := "name " + quoted + ", 1\nwaymark: name " + quoted + "\nwaymark: warning: a: " + quoted + "; b\nwaymark: " + quoted + "? "
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestErrorLines(t *testing.T) {
	one, two := errors.New("one\n1"), errors.New("two")
	both := errors.Join(one, two)
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{one, []string{`one\n1`}},
		{both, []string{`one\n1`, "two"}},
		{errors.Join(two), []string{"two"}},
		{errors.Join(both, two), []string{`one\n1`, "two", "two"}},
		{fmt.Errorf("x\n: %w, y", both), []string{`x\n: one\n1`, "two, y"}},
		{fmt.Errorf("x: %w: %w", two, both), []string{`x: two: one\n1`, "two"}},
		{WithHint(fmt.Errorf("x: %w", both), "h"), []string{`x: one\n1`, "two"}},
		{&Hinted{error: two}, []string{"two"}},
		{fmt.Errorf("%w and %w", one, two), []string{`one\n1 and two`}},
	} {
		if d := cmp.Diff(tt.want, ErrorLines(tt.err)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.err, d)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	line := []byte("12:00:00.123456  server[1234]  g17  http:request_start  path=\"/index.html\" attempt=1 bytes=123456\n")
	w := &Writer{to: io.Discard}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = w.Write(line)
	}
}

package problem

import (
	"errors"
	"strings"
	"testing"
)

type (
	state   int
	word    string
	nilled  struct{ cause error }
	shouter struct{}
)

func (n *nilled) Error() string { return n.cause.Error() }
func (shouter) String() string  { panic("from String") }

func TestPanicText(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{errors.New("no"), "no"},
		{"text", "text"},
		{state(3), "problem.state(3)"},
		{uint8(200), "uint8(200)"},
		{-7, "int(-7)"},
		{2.5, "float64(2.5)"},
		{float32(36.6), "float32(36.6)"},
		{2i, "complex128((0+2i))"},
		{true, "bool(true)"},
		{word("a\nb"), `problem.word("a\nb")`},
		{[]int{1}, "a value of type []int"},
		{(*nilled)(nil), "a value of type *problem.nilled"},
		{&nilled{}, "a value of type *problem.nilled"},
		{shouter{}, "a value of type problem.shouter"},
		{nil, "nil"},
	} {
		err := &PanicError{Point: `marker "a:b"`, Probe: "main.f", Value: test.value}
		if got, want := err.Error(), `marker "a:b": probe main.f panicked and was disconnected: `+test.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestStackIsBounded(t *testing.T) {
	var recurse func(int) []byte
	recurse = func(n int) []byte {
		if n == 0 {
			return Stack()
		}
		return recurse(n - 1)
	}
	if s := string(recurse(0)); !strings.Contains(s, "TestStackIsBounded") {
		t.Errorf("not this stack: %s", s)
	}
	// The runtime prints the innermost and outermost 50 frames of it.
	if s := recurse(100_000); len(s) > maxStack {
		t.Errorf("%d bytes", len(s))
	}
}

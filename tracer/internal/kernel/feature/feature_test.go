package feature

import (
	"errors"
	"testing"
)

func TestOnlyConclusiveAnswersAreRemembered(t *testing.T) {
	var a answer[int]
	asked := 0
	ask := func(v int, err error) func() (int, error) {
		return func() (int, error) { asked++; return v, err }
	}
	unknown := errors.New("interrupted")
	if _, err := a.get(ask(0, unknown)); !errors.Is(err, unknown) {
		t.Fatalf("got %v, want the error", err)
	}
	for range 2 {
		if v, err := a.get(ask(7, nil)); v != 7 || err != nil {
			t.Fatalf("got %d, %v, want 7", v, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
	var no answer[int]
	asked = 0
	for range 2 {
		if _, err := no.get(ask(0, ErrNotSupported)); !errors.Is(err, ErrNotSupported) {
			t.Fatalf("got %v, want ErrNotSupported", err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times for what is not supported, want 1", asked)
	}
}

func TestUprobeGeneration(t *testing.T) {
	g, err := UprobeGeneration()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("this kernel: %v", g)
}

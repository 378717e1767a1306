package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Events of a Go program that has simple markers alone have the number of the goroutine.
func TestSimpleGoroutines(t *testing.T) {
	peer.Root(t)
	for _, version := range gobuild.Versions {
		path := gobuild.Build(t, gobuild.Config{Go: version}, "testdata/simplegoroutines")
		if _, err := link.File(path, "", link.Options{}); err != nil {
			t.Fatal(err)
		}
		checkGoroutines(t, path)
	}
}

// checkGoroutines compares the goroutine with the variable in which the program has it.
func checkGoroutines(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command, err := tracer.Start(ctx, []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	target := tracer.PIDs(command.PID())
	markers, err := tracer.Find(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	events, err := tracer.Trace(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	if err := errors.Join(command.Resume(), command.Wait(), events.Stop()); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for e := range drain(t, events) {
		if e.Goroutine == 0 || uint64(e.Goroutine) != e.Values[0].Bits() || e.Values[0].Err() != nil {
			t.Errorf("an event of goroutine %d in %d: %v", e.Goroutine, e.Values[0].Bits(), e.Values[0].Err())
		}
		seen[e.Values[0].Bits()]++
	}
	if len(seen) != 5 {
		t.Errorf("events of %d goroutines, want 5", len(seen))
	}
}

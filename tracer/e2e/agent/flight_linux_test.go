package agent_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/client"
)

// numbers reads the n of every event, and how many events are missing.
func numbers(t *testing.T, tr *client.Ring) (all []int, missing int) {
	t.Helper()
	defer tr.Close()
	for {
		var e event.Event
		err := tr.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			lost, err := tr.Losses()
			must(t, err)
			return all, int(source.Total(lost))
		}
		must(t, err)
		all = append(all, int(e.Values[1].Bits()))
	}
}

// A flight recorder outlives its client, keeps the newest events, and its program.
func TestFlight(t *testing.T) {
	dir := runtimeDir(t)
	for _, how := range []string{"die", "panic"} {
		p := run(t, nil)
		p.ask("look")
		a := dial(t, p)
		_, err := a.StartSession(&client.SessionOptions{Name: "black-box", Patterns: []string{"target:worked"}, Flight: true, Size: 256 << 10})
		must(t, err)
		if _, err := a.StartSession(&client.SessionOptions{Name: "black-box"}); err == nil {
			t.Error("two recordings of one name")
		}
		must(t, a.Close())
		p.ask("mark 20000")
		b := dial(t, p)
		tr, err := b.Snapshot("black-box")
		must(t, err)
		if got, _ := numbers(t, tr); len(got) == 0 || got[len(got)-1] != 19_999 {
			t.Errorf("snapshot: %d events, the last is not 19999", len(got))
		}
		must(t, b.Close())
		p.Tell(how)
		p.Cmd.Wait()

		all, err := client.Sessions()
		must(t, err)
		i := slices.IndexFunc(all, func(s client.Session) bool { return s.PID == p.PID() })
		if i < 0 || all[i].Alive || !all[i].Flight || all[i].Name != "black-box" {
			t.Fatalf("%+v after its death", all)
		}
		tr, err = all[i].Recover()
		must(t, err)
		got, missing := numbers(t, tr)
		for i := range got[1:] { // with gaps: the ring of a P that was left early keeps older events
			if got[i+1] <= got[i] {
				t.Fatalf("%d follows %d", got[i+1], got[i])
			}
		}
		if len(got)+missing != 100_000 || got[len(got)-1] != 99_999 {
			t.Errorf("%d events and %d overwritten ones, the last is %d: of 100000", len(got), missing, got[len(got)-1])
		}
		must(t, all[i].Remove())
	}
	if left := glob(t, dir+"/waymark/*/*.ring"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Recordings end by name, and their memory goes with them; there are limits.
func TestSessions(t *testing.T) {
	dir := runtimeDir(t)
	p := run(t, nil)
	before := p.ask("look")
	a := dial(t, p)
	for i := range 8 {
		_, err := a.StartSession(&client.SessionOptions{Name: string(rune('a' + i)), Size: 1 << 20})
		must(t, err)
	}
	if _, err := a.StartSession(&client.SessionOptions{Name: "z", Size: 1 << 20}); err == nil {
		t.Error("a ninth recording")
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "a b", "\x1b"} {
		if _, err := a.StartSession(&client.SessionOptions{Name: name}); err == nil {
			t.Errorf("a recording called %q", name)
		}
	}
	list, err := a.Sessions()
	must(t, err)
	if len(list) != 8 || !list[0].Named || list[0].Flight || !list[0].Alive || list[0].Markers == 0 {
		t.Errorf("%+v", list)
	}
	if err := a.StopSession("nobody"); err == nil {
		t.Error("ending what there is not")
	}
	for i := range 8 {
		must(t, a.StopSession(string(rune('a'+i))))
	}
	must(t, a.Close())
	settled(t, p, before)
	if left := glob(t, dir+"/waymark/*/*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

package tracer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// laterCase is how a process is looked at for what appears later in it.
type laterCase struct {
	name          string
	pause, follow bool
}

var laterCases = []laterCase{{"running", false, false}, {"stopped", true, false}, {"followed", true, true}}

// library compiles a library that a program loads later. Whether a constructor is attached to in time is
// chance in a process that runs: there it hits nothing.
func (c laterCase) library(t *testing.T, source string) string {
	t.Helper()
	flags := []string{"-shared", "-fPIC"}
	if !c.pause {
		flags = append(flags, "-DQUIET")
	}
	return compile(t, source, flags...)
}

// loader is a program that loads libraries after it was attached to.
type loader struct {
	ticker
	target   Target
	attached chan []*Marker
	later    *Later
}

func startLoader(t *testing.T, c laterCase, args ...string) *loader {
	t.Helper()
	p := startProgram(t, append([]string{compile(t, "load.c", "-ldl")}, args...)...)
	l := &loader{p, follow(PIDs(p.PID()), c.follow), make(chan []*Marker, 8), nil}
	l.later = &Later{Pause: c.pause, Report: func(markers []*Marker, err error) {
		if err != nil {
			t.Error(err)
		}
		l.attached <- markers
	}}
	return l
}

// next loads the next library, waits until that is attached to, and has it hit its markers.
func (l *loader) next() {
	l.t.Helper()
	l.run()
	l.Expect("loaded")
	<-l.attached
	l.run()
	l.Expect("done")
}

// Counts by keys have what is loaded later, also when its keys are longer than those that
// there were, and whatever else is loaded then.
func TestLaterKeys(t *testing.T) {
	for _, c := range laterCases {
		t.Run(c.name, func(t *testing.T) {
			l := startLoader(t, c, c.library(t, "plugin.c"), "5", c.library(t, "lap.c"), "90")
			keys, err := Count(l.target, nil, &CountOptions{Attach: Attach{Strings: []string{"arg2"}, Later: l.later}, By: []string{"arg2", "comm"}})
			if err != nil {
				t.Fatal(err)
			}
			defer keys.Close()
			l.next()
			l.next()
			constructor := uint64(0)
			if c.pause {
				constructor = 1
			}
			none := "error: " + errNone.Error() + ` "load"/4`
			long := fmt.Sprintf("%q", "a name that is longer than what a key can keep of a text, which is 64 bytes"[:source.KeyText-1])
			for name, want := range map[string]map[string]uint64{
				"hit":   {none: 5 + 2*constructor},
				"begin": {none: 90 + constructor},
				"end":   {`"short"/5 "load"/4`: 30, `""/0 "load"/4`: 30, long + `/-1 "load"/4`: 30},
			} {
				if constructor > 0 && name == "end" {
					want[`"constructor"/11 "load"/4`] = 1
				}
				got, _ := keyed(t, keys, name)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			closeNow(t, keys)
		})
	}
}

// Pairs are measured of markers that are loaded later.
func TestLaterPairs(t *testing.T) {
	for _, by := range []LatencyOptions{{}, {Key: "arg1"}} {
		for _, c := range laterCases {
			t.Run(c.name+by.Key, func(t *testing.T) {
				l := startLoader(t, c, c.library(t, "lap.c"), "90")
				o := by
				o.Later, o.Ends = l.later, func(m *Marker) bool { return m.Name == "end" }
				pairs, err := Latency(l.target, nil, nil, &o)
				if err != nil {
					t.Fatal(err)
				}
				defer pairs.Close()
				if b, e := pairs.Key(); b != by.Key || e != by.Key {
					t.Errorf("without a marker pairs are joined by %q and %q", b, e)
				}
				l.next()
				got, err := pairs.Read()
				if err != nil {
					t.Fatal(err)
				}
				want := uint64(90)
				if c.pause {
					want++
				}
				if diff := cmp.Diff([5]uint64{want, want, 0, 0, 0}, counters(got)); diff != "" || got.Count() != want {
					t.Errorf("%d pairs, want %d; begins, ends, nested, unread, full (-want +got):\n%s", got.Count(), want, diff)
				}
				begin, end := pairs.Markers()
				if b, e := fullNames(begin), fullNames(end); !cmp.Equal(b, []string{"lap:begin"}) || !cmp.Equal(e, []string{"lap:end"}) {
					t.Errorf("attached to %v and %v", b, e)
				}
				if b, _ := pairs.Key(); b != "arg1" && b != "tid" {
					t.Errorf("pairs of a C library are joined by %q", b)
				}
				closeNow(t, pairs)
			})
		}
	}
}

// Of a process that executes programs later, again and again, keys and pairs are those of each.
func TestLaterExec(t *testing.T) {
	path, threads := tick(t), compile(t, "pairs.c", "-pthread")
	script := fmt.Sprintf("echo ready; read x; %[1]s 5 run; echo | %[2]s 2 20 | grep -c ' '; %[1]s 7 run; exec %[1]s 7 run", path, threads)
	follow := func(t *testing.T) (ticker, Target) {
		p := startProgram(t, peer.Need(t, "sh")[0], "-c", script)
		return p, PIDs(p.PID()).Follow()
	}
	run := func(p ticker) {
		p.run()
		for _, want := range []string{"done ", "40", "done ", "done "} {
			if line := p.Line(); !strings.HasPrefix(line, want) {
				t.Fatalf("a program says %q, want %q", line, want)
			}
		}
	}
	t.Run("keys", func(t *testing.T) {
		p, target := follow(t)
		keys, err := Count(target, nil, &CountOptions{Attach: Attach{Later: later(t, true)}, By: []string{"arg1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer keys.Close()
		run(p)
		want := map[string]uint64{"0": 3, "1": 3, "2": 3, "3": 3, "4": 3, "5": 2, "6": 2}
		for _, name := range []string{"loop1", "loop2"} {
			got, _ := keyed(t, keys, name)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
	t.Run("pairs", func(t *testing.T) {
		p, target := follow(t)
		o := &LatencyOptions{Attach: Attach{Later: later(t, true)}, Key: "tid", Ends: func(m *Marker) bool { return m.Name == "end" }}
		o.Later.Choose = func(m *Marker) bool { return m.Provider == "pairs" }
		pairs, err := Latency(target, nil, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		defer pairs.Close()
		run(p)
		got, err := pairs.Read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([5]uint64{42, 42, 0, 0, 0}, counters(got)); diff != "" || got.Count() != 40 {
			t.Errorf("%d pairs, want 40; begins, ends, nested, unread, full (-want +got):\n%s", got.Count(), diff)
		}
	})
}

// What pairs of a Go program are joined by is chosen when it is executed.
func TestLaterGo(t *testing.T) {
	path := linked(t, gobuild.Config{}, "testdata/requests")
	p := startProgram(t, peer.Need(t, "sh")[0], "-c", "echo ready; read x; exec "+path+" 50")
	target := PIDs(p.PID())
	pairs, err := Latency(target, nil, nil, &LatencyOptions{Attach: Attach{Later: &Later{Pause: true, Choose: func(m *Marker) bool { return m.Provider == "req" }, Report: later(t, true).Report}}, Ends: func(m *Marker) bool { return m.Name == "end" }})
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	p.run()
	p.Expect("ready")
	p.run()
	if line := p.Line(); !strings.HasPrefix(line, "{") {
		t.Fatalf("the program says %q", line)
	}
	got, err := pairs.Read()
	if err != nil {
		t.Fatal(err)
	}
	if by, _ := pairs.Key(); by != "goroutine" || got.Count() != 8*50 {
		t.Errorf("%d pairs by %s, want 400 by goroutine", got.Count(), by)
	}
}

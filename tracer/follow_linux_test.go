package tracer

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
)

// compile builds a program or library from a file of testdata.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	peer.Root(t)
	peer.Header(t, "sys/sdt.h")
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	run(t, append([]string{peer.Need(t, "gcc")[0], "-O2", "-o", out, "testdata/" + source}, flags...)...)
	return out
}

// later is a Later that fails the test for what goes wrong.
func later(t testing.TB, pause bool) *Later {
	return &Later{Pause: pause, Report: func(_ []*Marker, err error) {
		if err != nil {
			t.Error(err)
		}
	}}
}

// Every hit of every child and grandchild is counted and traced, and those of a process of the
// same file that is none are not.
func TestFollowForks(t *testing.T) {
	path := compile(t, "fork.c")
	const children, each = 50, 20
	for _, mode := range []bpf.Mode{bpf.Multi, bpf.Events, bpf.EventsPlain} {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			p, other := startProgram(t, path, fmt.Sprint(children), fmt.Sprint(each)), startProgram(t, path, "5", "7")
			target := PIDs(p.PID()).Follow()
			markers := mustFind(t, target, "forks:hit")
			c, err := Count(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tr, err := Trace(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			other.run()
			p.run()
			other.Expect("done")
			p.Expect("done")
			const want = (1 + 2*children) * each
			if n := hits(t, c)["hit"]; n != want {
				t.Errorf("counted %d, want %d", n, want)
			}
			select {
			case <-c.Ended():
				t.Error("ended before the process has")
			case <-time.After(10 * time.Millisecond):
			}
			p.CloseInput()
			for _, ended := range []<-chan struct{}{c.Ended(), tr.Ended()} {
				select {
				case <-ended:
				case <-time.After(2 * time.Minute):
					t.Error("no end is told")
				}
			}
			if err := tr.Stop(); err != nil {
				t.Error(err)
			}
			pids := map[int]int{}
			for _, e := range drain(t, tr) {
				pids[e.PID]++
			}
			if len(pids) != 1+2*children || pids[p.PID()] != each {
				t.Errorf("events of %d processes, %d of the first", len(pids), pids[p.PID()])
			}
		})
	}
}

// Guards are open in children from the first instruction, and closed in the end.
func TestFollowForksGuarded(t *testing.T) {
	path := compile(t, "fork.c")
	const children, each = 20, 10
	p, other := startProgram(t, path, fmt.Sprint(children), fmt.Sprint(each)), startProgram(t, path, "1", "1")
	target := PIDs(p.PID()).Follow()
	markers := mustFind(t, target)
	c, err := Count(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.run()
	p.Expect("done")
	const want = (1 + 2*children) * each
	if n := hits(t, c); n["hit"] != want || n["guarded"] != want {
		t.Errorf("counted %v, want %d of each", n, want)
	}
	closeNow(t, c)
	for _, p := range []ticker{p, other} {
		for _, m := range markers {
			if n := counter(t, p.PID(), m); n != 0 {
				t.Errorf("the counter of %s is %d in the end", m.Name, n)
			}
		}
	}
}

// A shell without markers runs programs with markers: all their hits are counted when each is
// stopped at execve, and the shell notices nothing. So are their guards open, also of a program that
// ran before.
func TestFollowExec(t *testing.T) {
	path := tick(t)
	sh := peer.Need(t, "sh")[0]
	p := startProgram(t, sh, "-c", fmt.Sprintf(
		"echo ready; read x; %[1]s 20 run; (%[1]s 30 run) & %[1]s 40 run; wait; echo $?; read x; exec %[1]s 50 run", path))
	target := PIDs(p.PID()).Follow()
	c, err := Count(target, nil, &CountOptions{Attach: Attach{Later: later(t, true)}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.run()
	var said []string
	for range 4 {
		said = append(said, p.Line())
	}
	if s := strings.Join(said, ","); s != "done 20,done 30,done 40,0" && s != "done 20,done 40,done 30,0" {
		t.Errorf("the commands say %s: want every guard open from the first pass on", s)
	}
	p.Tell("go")
	p.Expect("done 50")
	<-c.Ended()
	got := hits(t, c)
	for _, name := range []string{"loop1", "loop2", "args", "bare"} {
		if got[name] != 20+30+40+50 {
			t.Errorf("%s: counted %d, want 140", name, got[name])
		}
	}
	if counts, _ := c.Read(); len(counts) != len(tickNames) {
		t.Errorf("%d markers, want each once", len(counts))
	}
}

// What a program loads after attaching is attached to: at once when it may be stopped, even its
// constructors, and otherwise before long.
func TestDlopen(t *testing.T) {
	load := compile(t, "load.c", "-ldl")
	for _, test := range laterCases {
		t.Run(test.name, func(t *testing.T) {
			p := startProgram(t, load, test.library(t, "plugin.c"), "1000")
			attached := make(chan []*Marker, 1)
			o := &TraceOptions{Attach: Attach{Later: later(t, test.pause)}}
			o.Later.Report = func(markers []*Marker, err error) {
				if err != nil {
					t.Error(err)
				}
				attached <- markers
			}
			tr, err := Trace(follow(PIDs(p.PID()), test.follow), nil, o)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			begun := time.Now()
			p.run()
			p.Expect("loaded")
			markers := <-attached
			t.Logf("attached after %v", time.Since(begun))
			if len(markers) != 1 || markers[0].FullName() != "plugin:hit" {
				t.Fatalf("attached to %v", fullNames(markers))
			}
			p.run()
			p.Expect("done")
			if err := tr.Stop(); err != nil {
				t.Fatal(err)
			}
			all := drain(t, tr)
			want := 1000
			if test.pause {
				want += 2 // the constructor's
			}
			if len(all) < want || len(all) > 1002 {
				t.Errorf("%d events, want %d", len(all), want)
			}
			if e := all[len(all)-1]; e.Point != &markers[0].Point || signed(t, e)[0] != 999 {
				t.Errorf("the last event is %+v", e)
			}
		})
	}
}

// A command's libraries are mapped only after its first instruction, and what their
// constructors hit is counted all the same.
func TestCommandLibraries(t *testing.T) {
	lib := compile(t, "plugin.c", "-shared", "-fPIC")
	path := compile(t, "load.c", "-ldl", "-Wl,--no-as-needed", lib)
	cmd, err := Start(t.Context(), []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Count(PIDs(cmd.PID()), nil, &CountOptions{Attach: Attach{Later: later(t, true)}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // without input it fails
	if n := hits(t, c)["hit"]; n != 2 {
		t.Errorf("counted %d of the constructor's 2 hits", n)
	}
}

// startProgram starts a program that says "ready" and waits for its input.
func startProgram(t testing.TB, argv ...string) ticker {
	t.Helper()
	return startCommand(t, exec.CommandContext(context.Background(), argv[0], argv[1:]...))
}

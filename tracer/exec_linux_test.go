package tracer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
)

const execSource = `package main

import ("bufio"; "fmt"; "os"; "runtime"; "syscall")

func main() {
	runtime.LockOSThread() // so that the other goroutine runs on another thread
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		fmt.Println(syscall.Exec(os.Args[1], os.Args[1:], nil))
		close(done)
	}()
	<-done
}
`

// A Go program executes another from a thread that is not its first, and that thread takes over
// the process's number: followed or not, every hit is counted.
func TestExecByThread(t *testing.T) {
	path := tick(t)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(execSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, peer.Need(t, "go")[0], "build", "-o", program, source)
	for name, followed := range map[string]bool{"one": false, "followed": true} {
		t.Run(name, func(t *testing.T) {
			p := startProgram(t, program, path, "25", "run")
			c, err := Count(follow(PIDs(p.PID()), followed), nil, &CountOptions{Attach: Attach{Later: later(t, true)}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			p.run()
			p.Expect("done 25")
			<-c.Ended()
			if got := hits(t, c); got["loop1"] != 25 || got["loop2"] != 25 {
				t.Errorf("counted %v, want 25 of each", got)
			}
		})
	}
}

// againCase is a program that executes itself by a thread, and its markers.
type againCase struct {
	program           []string
	begin, end, early string
	where, whereEarly string
}

func againCases(t *testing.T) map[string]againCase {
	return map[string]againCase{
		"go": {
			program: []string{linked(t, gobuild.Config{}, "testdata/again")},
			begin:   "again:begin", end: "again:end", early: "again:early",
		},
		"python": {
			program: []string{peer.Need(t, "/usr/bin/python3.11")[0], "testdata/again.py"},
			begin:   "python:gc__start", end: "python:gc__done", early: "python:gc__start",
			where: "generation == 2", whereEarly: "generation == 1",
		},
	}
}

// A thread that is not the first one executes the file that is traced: each hit is counted, traced and paired
// once, as many of the program before as of the one after. With Pause none of the first ones is missed.
func TestExecItselfByThread(t *testing.T) {
	const n = 40
	for name, c := range againCases(t) {
		for _, mode := range []bpf.Mode{bpf.Multi, bpf.Events} {
			for _, pause := range []bool{false, true} {
				for verb, check := range map[string]func(*againCase, *testing.T, *again){"count": (*againCase).count, "early": (*againCase).countEarly, "trace": (*againCase).trace, "latency": (*againCase).latency} {
					t.Run(fmt.Sprint(name, " ", mode, " pause ", pause, " ", verb), func(t *testing.T) {
						force(t, mode)
						check(&c, t, startAgain(t, &c, n, pause))
					})
				}
			}
		}
	}
}

// again is a running program of an againCase.
type again struct {
	ticker
	target   Target
	n        int // hits of each part
	pause    bool
	attached chan bool
}

func startAgain(t *testing.T, c *againCase, n int, pause bool) *again {
	p := startProgram(t, append(slices.Clone(c.program), fmt.Sprint(n))...)
	return &again{p, PIDs(p.PID()), n, pause, make(chan bool, 1)}
}

// with returns how to attach to markers, again in the second program.
func (p *again) with(where string, patterns ...string) Attach {
	return Attach{Where: where, Later: &Later{
		Pause:  p.pause,
		Choose: func(m *Marker) bool { return slices.Contains(patterns, m.FullName()) },
		Report: func(_ []*Marker, err error) {
			if err != nil {
				p.t.Error(err)
			}
			p.attached <- true
		},
	}}
}

// run runs both programs, the second once it is attached to.
func (p *again) run(a *Attachment) {
	p.ticker.run()
	p.Expect("ready")
	<-p.attached
	p.ticker.run()
	p.Expect("done")
	<-a.Ended()
}

func (c *againCase) count(t *testing.T, p *again) {
	counter, err := Count(p.target, mustFind(t, p.target, c.begin), &CountOptions{Attach: p.with(c.where, c.begin)})
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	p.run(&counter.Attachment)
	if got, want := total(t, counter), uint64(2*p.n); got != want {
		t.Errorf("counted %d hits, want %d", got, want)
	}
}

func (c *againCase) countEarly(t *testing.T, p *again) {
	counter, err := Count(p.target, mustFind(t, p.target, c.early), &CountOptions{Attach: p.with(c.whereEarly, c.early)})
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	p.run(&counter.Attachment)
	if got, want := total(t, counter), uint64(p.n); p.pause && got != want || got > want {
		t.Errorf("counted %d of the first %d hits of the second program", got, want)
	}
}

func (c *againCase) trace(t *testing.T, p *again) {
	tr, err := Trace(p.target, mustFind(t, p.target, c.begin), &TraceOptions{Attach: p.with(c.where, c.begin)})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run(&tr.Attachment)
	if got, want := len(drain(t, tr)), 2*p.n; got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}

func (c *againCase) latency(t *testing.T, p *again) {
	o := &LatencyOptions{Attach: p.with(c.where, c.begin, c.end), Ends: func(m *Marker) bool { return m.FullName() == c.end }}
	pairs, err := Latency(p.target, mustFind(t, p.target, c.begin), mustFind(t, p.target, c.end), o)
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	p.run(&pairs.Attachment)
	got, err := pairs.Read()
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(2 * p.n); got.Count() != want || got.Begins != want || got.Nested != 0 {
		t.Errorf("%d pairs of %d begins, %d nested, want %d", got.Count(), got.Begins, got.Nested, want)
	}
}

// total returns all hits of a counter.
func total(t *testing.T, c *Counter) (n uint64) {
	t.Helper()
	for _, hits := range hits(t, c) {
		n += hits
	}
	return n
}

package tracer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
)

// signed returns an event's values as integers and fails for those that are missing.
func signed(t *testing.T, e *event.Event) []int64 {
	t.Helper()
	var all []int64
	for i, v := range e.Values {
		if v.Err() != nil {
			t.Errorf("%s of %s: %v", e.Point.Fields[i].Name, e.Point.Name, v.Err())
		}
		all = append(all, int64(v.Bits()))
	}
	return all
}

func TestTraceValues(t *testing.T) {
	for name, path := range map[string]string{"nop": tick(t), "nop5": tick5(t)} {
		for _, mode := range modes {
			t.Run(name+"/"+mode.String(), func(t *testing.T) {
				force(t, mode)
				traceValues(t, path)
			})
		}
	}
}

func traceValues(t *testing.T, path string) {
	const n = 300
	p := startTick(t, path, n)
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run()
	p.Expect(fmt.Sprintf("done %d", n))
	checkOptimized(t, p.PID(), filepath.Base(path) == "tick5")
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int64{}
	var last time.Duration
	for _, e := range drain(t, tr) {
		i := seen[e.Point.Name]
		seen[e.Point.Name]++
		want := map[string][]int64{
			"loop1": {i},
			"loop2": {i, -i},
			"bare":  {i},
			"args":  {-i, i & 255, 'w', -77, []int64{11, -22, 33, -44}[i&3], -i, 7, -9},
		}[e.Point.Name]
		if diff := cmp.Diff(want, signed(t, e)); diff != "" {
			t.Fatalf("%s, hit %d (-want +got):\n%s", e.Point.FullName(), i, diff)
		}
		if e.PID != p.PID() || e.TID != p.PID() || e.Comm != filepath.Base(path) || e.Goroutine != 0 {
			t.Fatalf("event of process %d, thread %d, %q, goroutine %d; want %d", e.PID, e.TID, e.Comm, e.Goroutine, p.PID())
		}
		if e.Time < last {
			t.Errorf("%s, hit %d, is earlier than the event before it", e.Point.Name, i)
		}
		last = e.Time
	}
	want := map[string]int64{"loop1": n, "loop2": n, "bare": n, "args": n}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if lost, err := lost(tr); lost != 0 || err != nil {
		t.Errorf("lost %d, %v", lost, err)
	}
	closeNow(t, tr)
	if _, err := next(context.Background(), tr); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Next after Close: %v, want os.ErrClosed", err)
	}
}

// checkOptimized makes sure that the test saw what it is about: on kernels that replace
// 5-byte nops the trampoline is mapped.
func checkOptimized(t *testing.T, pid int, nop5 bool) {
	t.Helper()
	g, err := feature.UprobeGeneration()
	if err != nil || g != feature.Nop5 {
		return
	}
	maps, err := procfs.Maps(pid)
	if err != nil {
		t.Fatal(err)
	}
	mapped := slices.ContainsFunc(maps, func(m procfs.Mapping) bool { return m.Path == "[uprobes-trampoline]" })
	if mapped != nop5 {
		t.Errorf("a trampoline is mapped: %t, want %t", mapped, nop5)
	}
}

// A ring too small for what is hit while nobody reads loses events, and says exactly how many.
func TestTraceLost(t *testing.T) {
	const n = 200_000
	p := startTick(t, tick(t), n)
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target, "args"), &TraceOptions{Attach: Attach{BufferSize: 64 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run()
	p.Expect("done 0")
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	delivered := uint64(len(drain(t, tr)))
	missing, err := lost(tr)
	if err != nil {
		t.Fatal(err)
	}
	if delivered+missing != n || missing == 0 || delivered == 0 {
		t.Errorf("delivered %d + lost %d = %d, want %d and some of both", delivered, missing, delivered+missing, n)
	}
	t.Logf("delivered %d, lost %d", delivered, missing)
	closeNow(t, tr)
	if after, err := lost(tr); after != missing || err != nil {
		t.Errorf("Lost after Close: %d, %v, want %d", after, err, missing)
	}
}

// While somebody reads, what is delivered and what is lost are every hit.
func TestTraceWhileRunning(t *testing.T) {
	const n = 300_000
	p := startTick(t, tick(t), n)
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target, "loop*", "args"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	done := make(chan error, 1)
	p.run()
	go func() {
		line, err := p.Next()
		if err == nil && line != fmt.Sprintf("done %d", n) {
			err = fmt.Errorf("tick says %q", line)
		}
		done <- errors.Join(err, tr.Stop())
	}()
	events := uint64(len(drain(t, tr)))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lost, err := lost(tr)
	if events+lost != 3*n || err != nil {
		t.Errorf("delivered %d + lost %d = %d, %v; want %d", events, lost, events+lost, err, 3*n)
	}
	t.Logf("delivered %d, lost %d", events, lost)
}

func TestTraceCancel(t *testing.T) {
	p := startTick(t, tick(t), 5)
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target, "loop1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		returned := make(chan error)
		go func() {
			_, err := next(ctx, tr)
			returned <- err
		}()
		cancel()
		if err := <-returned; !errors.Is(err, context.Canceled) {
			t.Fatalf("Next: %v, want context.Canceled", err)
		}
	}
	// A cancelled Next must not cost the following ones anything.
	p.run()
	p.Expect("done 0")
	for i := range 5 {
		e, err := next(context.Background(), tr)
		if err != nil || signed(t, e)[0] != int64(i) {
			t.Fatalf("event %d: %v, %v", i, e, err)
		}
	}
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := next(context.Background(), tr); err != io.EOF {
		t.Errorf("Next after Stop: %v, want io.EOF", err)
	}
}

// Without Stop, events end with their process.
func TestTraceEndsWithProcess(t *testing.T) {
	p := startTick(t, tick(t), 50)
	target := PIDs(p.PID())
	markers := mustFind(t, target, "loop2")
	counter, err := Count(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	tr, err := Trace(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run()
	p.Expect("done 50")
	p.CloseInput()
	if events, counted := len(drain(t, tr)), hits(t, counter)["loop2"]; events == 0 || uint64(events) != counted {
		t.Errorf("%d events of %d hits", events, counted)
	}
	<-tr.Ended()
	<-counter.Ended()
	if err := tr.Stop(); err != nil {
		t.Error(err)
	}
}

func TestTraceCloseWakesNext(t *testing.T) {
	p := startTick(t, tick(t), 5)
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target, "loop1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	returned := make(chan error)
	go func() {
		_, err := next(context.Background(), tr)
		returned <- err
	}()
	closeNow(t, tr)
	if err := <-returned; err != io.EOF && !errors.Is(err, os.ErrClosed) {
		t.Errorf("Next: %v, want io.EOF or os.ErrClosed", err)
	}
}

const postgres = "/usr/lib/postgresql/15/bin/postgres"

func TestTracePostgreSQL(t *testing.T) {
	peer.Root(t)
	peer.Need(t, postgres)
	markers := mustFind(t, Path(postgres))
	sites := 0
	for _, m := range markers {
		sites += len(m.Sites)
		if !m.Counted {
			t.Errorf("%s has no reference counter", m.FullName())
		}
		for _, f := range m.Fields {
			if f.Unavailable != "" {
				t.Errorf("%s: %s: %v", m.FullName(), f.Name, f.Unavailable)
			}
		}
	}
	if sites != 71 {
		t.Errorf("%d sites, want 71", sites)
	}
	for _, mode := range modes[:2] {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			tr, err := Trace(Path(postgres), markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			closeNow(t, tr)
		})
	}
}

// In a PID namespace of its own, as in a container, a tracer reports the numbers that it sees
// itself. The test runs the others in one.
func TestTraceInPIDNamespace(t *testing.T) {
	peer.Root(t)
	unshare := peer.Need(t, "unshare")[0]
	tick(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(unshare, "--pid", "--fork", "--mount-proc", self,
		"-test.run=^(TestTraceValues|TestCountPID)$", "-test.v").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestTraceValues")) {
		t.Errorf("%v\n%s", err, out)
	}
}

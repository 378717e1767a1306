package tracer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// tick returns the C program, built once for all tests.
func tick(t testing.TB) string { return buildTick(t, "tick", "") }

// tick5 returns the same with 5-byte nops at its sites, which Linux 6.18 replaces by calls.
func tick5(t testing.TB) string { return buildTick(t, "tick5", "", "tick", "bare") }

// mixed returns the same with such a nop at the site of bare only, in a function with a red zone.
func mixed(t testing.TB) string { return buildTick(t, "mixed", "-DRED_ZONE", "bare") }

// buildTick makes nops of 5 bytes in some of its sources. define is an option for the compiler, or "".
func buildTick(t testing.TB, name, define string, nop5 ...string) string {
	t.Helper()
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	out := filepath.Join(binDir, name)
	if _, err := os.Stat(out); err == nil {
		return out
	}
	var asm []string
	for _, source := range []string{"tick", "bare"} {
		s := filepath.Join(binDir, source+".s")
		options := []string{gcc, "-O2", "-S", "-o", s, "testdata/" + source + ".c"}
		if define != "" {
			options = append(options, define)
		}
		run(t, options...)
		text, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(nop5, source) {
			// sys/sdt.h puts a nop at label 990 and offers no other.
			text = bytes.ReplaceAll(text, []byte("990: nop"), []byte("990: .byte 0x0f,0x1f,0x44,0,0"))
		}
		if err := os.WriteFile(s, text, 0o644); err != nil {
			t.Fatal(err)
		}
		asm = append(asm, s)
	}
	run(t, append([]string{gcc, "-o", out}, asm...)...)
	return out
}

func run(t testing.TB, argv ...string) {
	t.Helper()
	if text, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, text)
	}
}

// binDir holds what tests build; TestMain removes it.
var binDir string

// ticker is a running tick that waits to be told to begin.
type ticker struct {
	*talk.Program
	t testing.TB
}

func startTick(t testing.TB, path string, n int) ticker {
	t.Helper()
	return startCommand(t, exec.Command(path, fmt.Sprint(n)))
}

func startCommand(t testing.TB, cmd *exec.Cmd) ticker {
	t.Helper()
	p := ticker{talk.Start(t, cmd), t}
	p.Expect("ready")
	return p
}

// run makes it hit its markers; it then waits with everything still mapped.
func (p ticker) run() { p.Tell("go") }

// counter returns the value of the reference counter of m's first site in process pid.
func counter(t testing.TB, pid int, m *Marker) uint16 {
	t.Helper()
	maps, err := procfs.Maps(pid)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maps {
		if maps[i].Inode != model.ID(m.File).Inode || !maps[i].Writable {
			continue
		}
		if at, ok := procfs.Address(maps[i:i+1], maps[i].File(), uint64(m.Sites[0].CounterOffset)); ok {
			v, err := procfs.ReadCounter(pid, at)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("process %d does not map the counter of %s", pid, m.FullName())
	return 0
}

func mustFind(t testing.TB, target Target, patterns ...string) []*Marker {
	t.Helper()
	all, err := Find(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	markers, err := Select(all, patterns)
	if err != nil {
		t.Fatal(err)
	}
	return markers
}

// hits returns counts by the marker's name.
func hits(t testing.TB, c *Counter) map[string]uint64 {
	t.Helper()
	counts, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint64{}
	for _, n := range counts {
		m[n.Marker.Name] += n.Count
	}
	return m
}

func closeNow(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what another process does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: not after two minutes", what)
}

// follow returns a target with the children of its processes, if wanted.
func follow(t Target, wanted bool) Target {
	if wanted {
		return t.Follow()
	}
	return t
}

// next returns the next event, which belongs to the caller.
func next(ctx context.Context, tr *Tracer) (*event.Event, error) {
	var e event.Event
	if err := tr.Read(ctx, &e); err != nil {
		return nil, err
	}
	return e.Clone(), nil
}

// lost returns the number of lost events.
func lost(tr *Tracer) (uint64, error) {
	lost, err := tr.Losses()
	return source.Total(lost), err
}

// drain returns every event up to io.EOF.
func drain(t testing.TB, tr *Tracer) []*event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var all []*event.Event
	for {
		e, err := next(ctx, tr)
		if err == io.EOF {
			if _, err := next(ctx, tr); err != io.EOF {
				t.Errorf("Next after io.EOF: %v, want the same again", err)
			}
			return all
		}
		if err != nil {
			t.Fatalf("after %d events: %v", len(all), err)
		}
		all = append(all, e)
	}
}

// helperEnv makes the test binary act as another program: a tracer to be killed.
const helperEnv = "WAYMARK_TRACER_HELPER"

// unprivilegedEnv makes it somebody without privilege.
const unprivilegedEnv = "WAYMARK_TRACER_UNPRIVILEGED"

func TestMain(m *testing.M) {
	GuardMain()
	if what := os.Getenv(helperEnv); what != "" {
		var held int
		if n, _ := fmt.Sscanf(what, "hold %d", &held); n == 1 {
			holdHelper(held)
		}
		helper(what)
		return
	}
	if target := os.Getenv(unprivilegedEnv); target != "" {
		unprivileged(target)
		return
	}
	var err error
	if binDir, err = os.MkdirTemp("", "waymark-tracer-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	before := kernelFDs()
	code := m.Run()
	os.RemoveAll(binDir)
	if after := kernelFDs(); code == 0 && len(after) > len(before) {
		fmt.Fprintf(os.Stderr, "descriptors of the kernel were left open: %v\n", after)
		code = 1
	}
	os.Exit(code)
}

// kernelFDs returns this process's descriptors of links, programs, maps and perf events.
func kernelFDs() []string {
	var found []string
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && (strings.Contains(to, "bpf") || strings.Contains(to, "perf_event")) {
			found = append(found, to)
		}
	}
	return found
}

// helper attaches to a process and waits to be killed.
func helper(pid string) {
	number, _ := strconv.Atoi(pid)
	target := PIDs(number)
	markers, err := Find(context.Background(), target)
	if err == nil {
		_, err = Count(target, markers, nil)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("attached")
	select {}
}

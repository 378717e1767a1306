package tracer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// late is a running testdata/late and its library.
type late struct {
	ticker
	program, library string
	marker           *Marker
}

func startLate(t *testing.T) *late {
	t.Helper()
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	l := &late{program: filepath.Join(binDir, "late"), library: filepath.Join(t.TempDir(), "liblate.so")}
	if _, err := os.Stat(l.program); err != nil {
		run(t, gcc, "-O2", "-o", l.program, "testdata/late.c", "-ldl")
		run(t, gcc, "-O2", "-shared", "-fPIC", "-DLIB", "-o", l.program+".so", "testdata/late.c")
	}
	data, err := os.ReadFile(l.program + ".so")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.library, data, 0o755); err != nil {
		t.Fatal(err)
	}
	l.ticker = startTick(t, l.program, 0)
	return l
}

func (l *late) open() {
	l.t.Helper()
	l.Tell("open " + l.library)
	l.Expect("opened")
}

func (l *late) find() []*Marker {
	l.t.Helper()
	markers := mustFind(l.t, Path(l.library), "late:hit")
	l.marker = markers[0]
	return markers
}

// counters returns the values of the counter in all its private writable mappings.
func (l *late) counters(pid int) (values []uint16) {
	l.t.Helper()
	maps, err := procfs.Maps(pid)
	if err != nil {
		l.t.Fatal(err)
	}
	for i := range maps {
		m := &maps[i]
		if m.Inode != model.ID(l.marker.File).Inode || !m.Writable {
			continue
		}
		if at, ok := procfs.Address(maps[i:i+1], m.File(), uint64(l.marker.Sites[0].CounterOffset)); ok {
			v, err := procfs.ReadCounter(pid, at)
			if err != nil {
				l.t.Fatal(err)
			}
			values = append(values, v)
		}
	}
	return values
}

func (l *late) await(what string, pid int, want ...uint16) {
	l.t.Helper()
	var got []uint16
	for range 12_000 {
		if got = l.counters(pid); cmp.Equal(got, want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Errorf("counters %s are %v, want %v", what, got, want)
}

func count(t *testing.T, target Target, markers []*Marker) *Counter {
	t.Helper()
	c, err := Count(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Source 003: "what if vma holding reference counter is not present while patching".
func TestCounterOfLateMapping(t *testing.T) {
	l := startLate(t)
	c := count(t, Path(l.library), l.find())
	l.open()
	l.await("after the library is loaded", l.PID(), 1)
	l.Tell("hit 1000")
	l.Expect("1000")
	if got := hits(t, c)["hit"]; got != 1000 {
		t.Errorf("counted %d of 1000", got)
	}
	closeNow(t, c)
	l.await("after Close", l.PID(), 0)
}

// Source 003: several mappings of one page. The kernel raises the counter it finds first once for
// each mapping of the instruction.
func TestCounterOfManyMappings(t *testing.T) {
	l := startLate(t)
	l.open()
	s := &l.find()[0].Sites[0]
	for _, m := range []struct {
		at         uint64
		protection int
	}{{uint64(s.CounterOffset), 3}, {uint64(s.Offset), 5}} {
		l.Tell(fmt.Sprintf("map %s %d %d", l.library, m.at, m.protection))
		l.Expect("mapped")
	}
	c := count(t, PIDs(l.PID()), mustFind(t, PIDs(l.PID()), "late:hit"))
	got := l.counters(l.PID())
	want := []uint16{2, 0}
	if d := cmp.Diff(want, got); d != "" && !(len(got) == 2 && got[0]+got[1] == 2) {
		t.Errorf("counters (-want +got):\n%s", d)
	}
	closeNow(t, c)
	l.await("after Close", l.PID(), 0, 0)
}

// Source 003: the kernel raises once for several consumers.
func TestCounterOfTwoConsumers(t *testing.T) {
	l := startLate(t)
	l.open()
	first := count(t, PIDs(l.PID()), l.find())
	second := count(t, Path(l.library), l.find())
	l.await("with two tracers", l.PID(), 1)
	closeNow(t, first)
	l.await("after the first left", l.PID(), 1)
	l.Tell("hit 100")
	l.Expect("100")
	if got := hits(t, second)["hit"]; got != 100 {
		t.Errorf("the second counted %d of 100", got)
	}
	closeNow(t, second)
	l.await("after both left", l.PID(), 0)
}

// A child of fork has its parent's counters, raised as they were.
func TestCounterInherited(t *testing.T) {
	for _, everywhere := range []bool{true, false} {
		l := startLate(t)
		l.open()
		target := PIDs(l.PID())
		if everywhere {
			target = Path(l.library)
		}
		c := count(t, target, l.find())
		l.Tell("fork")
		child, err := strconv.Atoi(l.Line())
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Kill(child, unix.SIGKILL)
		if everywhere {
			l.await("of the child", child, 1)
		}
		l.await("of the parent", l.PID(), 1)
		closeNow(t, c)
		l.await("of the parent after Close", l.PID(), 0)
		if everywhere { // the kernel lowers that of another's child when it hits the marker
			l.await("of the child after Close", child, 0)
		}
	}
}

// While vfork's child runs it has its parent's memory, not a copy.
func TestCounterOfVfork(t *testing.T) {
	for _, everywhere := range []bool{true, false} {
		l := startLate(t)
		l.open()
		target := PIDs(l.PID())
		if everywhere {
			target = Path(l.library)
		}
		c := count(t, target, l.find())
		l.Tell("vfork")
		for range 15 {
			time.Sleep(10 * time.Millisecond)
			if got := l.counters(l.PID()); !cmp.Equal(got, []uint16{1}) {
				t.Errorf("counters are %v while there is a child that shares them", got)
			}
		}
		l.Expect("back")
		l.await("after vfork", l.PID(), 1)
		closeNow(t, c)
		l.await("after Close", l.PID(), 0)
	}
}

// After execve the process is the same, with other memory.
func TestCounterAfterExec(t *testing.T) {
	l := startLate(t)
	l.open()
	c := count(t, PIDs(l.PID()), l.find())
	l.Tell("exec " + l.program + " " + l.library)
	l.Expect("ready")
	l.await("after execve", l.PID(), 1)
	l.Tell("hit 10")
	l.Expect("10")
	if got := hits(t, c)["hit"]; got != 10 {
		t.Errorf("counted %d of 10", got)
	}
	closeNow(t, c)
	l.await("after Close", l.PID(), 0)
}

// set writes the counter by hand.
func (l *late) set(v uint16) {
	l.t.Helper()
	maps, err := procfs.Maps(l.PID())
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := procfs.OpenMemory(l.PID(), true)
	if err != nil {
		l.t.Fatal(err)
	}
	defer m.Close()
	for i := range maps {
		if maps[i].Inode == model.ID(l.marker.File).Inode && maps[i].Writable {
			if at, ok := procfs.Address(maps[i:i+1], maps[i].File(), uint64(l.marker.Sites[0].CounterOffset)); ok {
				if err := m.SetCounter(at, v); err != nil {
					l.t.Fatal(err)
				}
			}
		}
	}
}

// A kernel before 4.20 gets an error for markers with a reference counter; others are traced.
func TestNoCounters(t *testing.T) {
	peer.Root(t)
	path := tick(t)
	before := model.EventSources
	model.EventSources = t.TempDir()
	defer func() { model.EventSources = before }()
	_, err := Count(Path(path), mustFind(t, Path(path), "loop2"), nil)
	if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "Linux 4.20") {
		t.Errorf("got %v, want that reference counters need Linux 4.20", err)
	}
	c := count(t, Path(path), mustFind(t, Path(path), "bare", "loop2"))
	skipped := c.Skipped()
	if len(skipped) != 1 || skipped[0].Marker.Name != "loop2" || !errors.Is(skipped[0], ErrNotSupported) {
		t.Errorf("left out: %v, want loop2", skipped)
	}
}

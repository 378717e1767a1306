package tracer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/peer"
	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// bothModes runs a test with counters that the kernel raises, and with counters that we do.
func bothModes(t *testing.T, test func(t *testing.T, user bool)) {
	for _, user := range []bool{false, true} {
		name := "kernel"
		if user {
			name = "user"
		}
		t.Run(name, func(t *testing.T) {
			forceUserCounters = user
			t.Cleanup(func() { forceUserCounters = false })
			test(t, user)
		})
	}
}

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
	markers := mustFind(l.t, Target{Path: l.library}, "late:hit")
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
		if m.Inode != l.marker.File.id.inode || !m.Writable {
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
	bothModes(t, func(t *testing.T, user bool) {
		l := startLate(t)
		c := count(t, Target{Path: l.library}, l.find())
		l.open()
		l.await("after the library is loaded", l.PID(), 1)
		l.Tell("hit 1000")
		l.Expect("1000")
		if got := hits(t, c)["hit"]; got != 1000 {
			t.Errorf("counted %d of 1000", got)
		}
		closeNow(t, c)
		l.await("after Close", l.PID(), 0)
	})
}

// Source 003: several mappings of one page. The kernel raises the counter it finds first once for each
// mapping of the instruction; we raise each mapping of the counter.
func TestCounterOfManyMappings(t *testing.T) {
	bothModes(t, func(t *testing.T, user bool) {
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
		c := count(t, Target{PID: l.PID()}, mustFind(t, Target{PID: l.PID()}, "late:hit"))
		got := l.counters(l.PID())
		want := []uint16{2, 0}
		if user {
			want = []uint16{1, 1}
		}
		if d := cmp.Diff(want, got); d != "" && !(len(got) == 2 && !user && got[0]+got[1] == 2) {
			t.Errorf("counters (-want +got):\n%s", d)
		}
		closeNow(t, c)
		l.await("after Close", l.PID(), 0, 0)
	})
}

// Source 003: the kernel raises once for several consumers. We cannot see one another: each
// counts itself, once.
func TestCounterOfTwoConsumers(t *testing.T) {
	bothModes(t, func(t *testing.T, user bool) {
		l := startLate(t)
		l.open()
		first := count(t, Target{PID: l.PID()}, l.find())
		second := count(t, Target{Path: l.library}, l.find())
		both := uint16(1)
		if user {
			both = 2
		}
		l.await("with two tracers", l.PID(), both)
		closeNow(t, first)
		l.await("after the first left", l.PID(), 1)
		l.Tell("hit 100")
		l.Expect("100")
		if got := hits(t, second)["hit"]; got != 100 {
			t.Errorf("the second counted %d of 100", got)
		}
		closeNow(t, second)
		l.await("after both left", l.PID(), 0)
	})
}

// A child of fork has its parent's counters, raised as they were.
func TestCounterInherited(t *testing.T) {
	bothModes(t, func(t *testing.T, user bool) {
		for _, everywhere := range []bool{true, false} {
			l := startLate(t)
			l.open()
			target := Target{PID: l.PID()}
			if everywhere {
				target = Target{Path: l.library}
			}
			c := count(t, target, l.find())
			time.Sleep(300 * time.Millisecond) // out of doubt: internal/refcount, lineage
			l.Tell("fork")
			child, err := strconv.Atoi(l.Line())
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Kill(child, unix.SIGKILL)
			switch {
			case everywhere:
				l.await("of the child", child, 1)
			case user: // it is not traced
				l.await("of the child", child, 0)
			}
			l.await("of the parent", l.PID(), 1)
			closeNow(t, c)
			l.await("of the parent after Close", l.PID(), 0)
			if everywhere || user { // the kernel lowers that of another's child when it hits the marker
				l.await("of the child after Close", child, 0)
			}
		}
	})
}

// While vfork's child runs it has its parent's memory, not a copy.
func TestCounterOfVfork(t *testing.T) {
	bothModes(t, func(t *testing.T, user bool) {
		for _, everywhere := range []bool{true, false} {
			l := startLate(t)
			l.open()
			target := Target{PID: l.PID()}
			if everywhere {
				target = Target{Path: l.library}
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
	})
}

// After execve the process is what it was, with other memory.
func TestCounterAfterExec(t *testing.T) {
	bothModes(t, func(t *testing.T, user bool) {
		l := startLate(t)
		l.open()
		c := count(t, Target{PID: l.PID()}, l.find())
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
	})
}

// Somebody who has the site with a counter of the kernel's refuses us without one.
func TestUserCounterConflict(t *testing.T) {
	l := startLate(t)
	l.open()
	c := count(t, Target{Path: l.library}, l.find())
	_, err := Count(Target{Path: l.library}, l.find(), &Options{UserCounters: true})
	if !errors.Is(err, ErrCounterConflict) {
		t.Errorf("got %v, want ErrCounterConflict", err)
	}
	t.Log(err)
	l.await("of the first", l.PID(), 1)
	closeNow(t, c)
}

// Whatever becomes of tracer and target, counters return to what they were.
func TestUserCounterEnds(t *testing.T) {
	forceUserCounters = true
	t.Cleanup(func() { forceUserCounters = false })
	t.Run("the target ends", func(t *testing.T) {
		l := startLate(t)
		l.open()
		c := count(t, Target{PID: l.PID()}, l.find())
		l.Cmd.Process.Kill()
		l.Cmd.Wait()
		closeNow(t, c)
	})
	t.Run("the tracer is killed", func(t *testing.T) {
		l := startLate(t)
		l.open()
		l.find()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", helperEnv, l.PID()), userCountersEnv+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 9)
		if _, err := out.Read(line); string(line) != "attached\n" {
			t.Fatalf("the tracer says %q, %v", line, err)
		}
		l.await("while it traces", l.PID(), 1)
		cmd.Process.Kill()
		cmd.Wait()
		l.await("after SIGKILL of the tracer", l.PID(), 0)
	})
	t.Run("it cannot be raised", func(t *testing.T) {
		l := startLate(t)
		l.open()
		l.find()
		l.set(65535)
		if _, err := Count(Target{PID: l.PID()}, l.find(), nil); err == nil {
			t.Error("raised beyond 16 bits")
		} else {
			t.Log(err)
		}
		l.await("after the refusal", l.PID(), 65535)
	})
	t.Run("somebody set it to zero", func(t *testing.T) {
		l := startLate(t)
		l.open()
		c := count(t, Target{PID: l.PID()}, l.find())
		l.set(0)
		l.await("a moment later", l.PID(), 1)
		closeNow(t, c)
		l.await("after Close", l.PID(), 0)
	})
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
		if maps[i].Inode == l.marker.File.id.inode && maps[i].Writable {
			if at, ok := procfs.Address(maps[i:i+1], maps[i].File(), uint64(l.marker.Sites[0].CounterOffset)); ok {
				if err := m.SetCounter(at, v); err != nil {
					l.t.Fatal(err)
				}
			}
		}
	}
}

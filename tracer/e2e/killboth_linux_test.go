package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

const (
	// bothRounds is how often waymark and its guard are killed while they attach, and while they detach.
	bothRounds = 40
	// bothWindow is how much later than waymark its guard is killed, at most.
	bothWindow = 4 * time.Millisecond
)

// Waymark and its guard may be killed together, by a tool that kills what has the name of waymark. A guard that detaches cannot
// be interrupted. One that attaches can, and the kernel then leaks uprobes: doctor finds all of these, and repairs them.
func TestKilledWithItsGuard(t *testing.T) {
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	s := newStorm(t, manyMarkers(t, gcc, 300))
	seed := peer.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	waymark(t) // built before anything is timed
	t.Run("detaching", func(t *testing.T) {
		leaked := 0
		for range bothRounds {
			w := watch(t, s.path)
			guard := guardOf(t, w.cmd.Process.Pid)
			w.cmd.Process.Kill()
			time.Sleep(upTo(bothWindow))
			guard.Kill()
			w.cmd.Wait()
			w.done = true
			eventually(t, "no guard after both were killed", func() bool { return !guards(t, w.cmd.Process.Pid) })
			if n := s.raised(t); n > 0 {
				leaked++
				t.Errorf("%d counters are raised, seed %d", n, seed)
				s.doctor(t)
			}
		}
		t.Logf("%d of %d rounds leaked", leaked, bothRounds)
	})
	t.Run("attaching", func(t *testing.T) {
		s.killAttaching(t, upTo, func() bool { return s.raised(t) > 0 }, func() { s.doctor(t) })
	})
	s.unchanged(t)
	t.Run("without counters", func(t *testing.T) {
		s := newStorm(t, markersWithoutCounters(t, gcc, 300))
		s.killAttaching(t, upTo, func() bool { return s.probed(t) > 0 }, func() {
			out := run(t, waymark(t), "doctor", "--repair", "--yes", s.path)
			if !strings.Contains(out, "has no counter: 1 site with a probe left by a tracer that died") {
				t.Errorf("doctor says\n%.2000s", out)
			}
			if n := s.probed(t); n > 0 {
				t.Errorf("%d probes are left after the repair:\n%.2000s", n, out)
				run(t, waymark(t), "stat", "-d", "1ms", s.path)
			}
		})
	})
}

// killAttaching kills waymark and its guard while they attach, until the kernel has leaked what leaked looks for, and then calls found.
func (s *storm) killAttaching(t *testing.T, upTo func(time.Duration) time.Duration, leaked func() bool, found func()) {
	t.Helper()
	took := s.attaching(t)
	leaks, rounds := 0, 0
	// In few of the rounds the guard is interrupted while the kernel attaches.
	for ; rounds < bothRounds || rounds < 10*bothRounds && leaks == 0; rounds++ {
		cmd := exec.Command(waymark(t), "stat", s.path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(upTo(took))
		for time.Now().Before(at) && !guards(t, cmd.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(upTo(max(time.Until(at), bothWindow)))
		guard := guardOf(t, cmd.Process.Pid)
		cmd.Process.Kill()
		guard.Kill()
		cmd.Wait()
		eventually(t, "no guard after both were killed", func() bool { return !guards(t, cmd.Process.Pid) })
		if leaked() {
			leaks++
			found()
		}
	}
	t.Logf("%d of %d rounds leaked", leaks, rounds)
}

// probed returns how many sites have another instruction than at first.
func (s *storm) probed(t *testing.T) (n int) {
	for _, m := range s.first {
		for j, at := range m.sites {
			if !bytes.Equal(m.read(t, at, codeSize), m.code[j]) {
				n++
			}
		}
	}
	return n
}

// unchanged makes sure that every instruction is what it was at first.
func (s *storm) unchanged(t *testing.T) {
	t.Helper()
	for i, m := range s.first {
		for j, at := range m.sites {
			if got := m.read(t, at, codeSize); !bytes.Equal(got, m.code[j]) {
				t.Errorf("process %d at %#x: % x, at first % x", s.pids[i], at, got, m.code[j])
			}
		}
	}
}

// markersWithoutCounters builds a program that passes n markers.
func markersWithoutCounters(t *testing.T, gcc string, n int) string {
	t.Helper()
	source := "#include <sys/sdt.h>\n#include <unistd.h>\nint main(void) { for (long i = 0;; i++) {\n"
	for i := range n {
		source += fmt.Sprintf("\tSTAP_PROBE1(bare, m%d, i); __asm__ volatile(\"nopw 0(%%rax,%%rax)\\n nopw 0(%%rax,%%rax)\");\n", i)
	}
	path := filepath.Join(t.TempDir(), "bare")
	if err := os.WriteFile(path+".c", []byte(source+"\tusleep(1000);\n} }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, gcc, "-O2", "-o", path, path+".c")
	return path
}

// doctor has waymark doctor find and repair what is raised, in all processes.
func (s *storm) doctor(t *testing.T) {
	t.Helper()
	raised := s.raised(t)
	out, err := exec.Command(waymark(t), "doctor", "--repair", "--yes", "--json", s.path).Output()
	if err != nil {
		t.Errorf("waymark doctor: %v\n%s", err, out)
	}
	found := 0
	for line := range bytes.Lines(out) {
		var c struct{ Check, Reason string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Check == "counter" && strings.Contains(c.Reason, "left by a tracer that died") {
			found++
		}
	}
	if left := s.raised(t); left > 0 || found != raised {
		t.Errorf("of %d raised counters doctor found %d, and %d are left after the repair", raised, found, left)
		run(t, waymark(t), "stat", "-d", "1ms", s.path) // for the next round
	}
}

// guardOf returns the guard of a process, or a process that ended long ago when there is none yet.
func guardOf(t *testing.T, pid int) *os.Process {
	t.Helper()
	pids, err := procfs.PIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		if err == nil && strings.HasPrefix(string(line), fmt.Sprintf("waymark: guard of %d\x00", pid)) {
			if guard, err := os.FindProcess(p); err == nil {
				return guard
			}
		}
	}
	none, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = none.Wait()
	return none
}

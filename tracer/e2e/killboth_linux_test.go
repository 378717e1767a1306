package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
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
		took := s.attaching(t)
		leaked, rounds := 0, 0
		// The guard is interrupted while the kernel attaches in few of the rounds.
		for ; rounds < bothRounds || rounds < 10*bothRounds && leaked == 0; rounds++ {
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
			if s.raised(t) > 0 {
				leaked++
				s.doctor(t)
			}
		}
		t.Logf("%d of %d rounds leaked", leaked, rounds)
	})
	for i, m := range s.first {
		for j, at := range m.sites {
			if got := m.read(t, at, codeSize); !bytes.Equal(got, m.code[j]) {
				t.Errorf("process %d at %#x: % x, at first % x", s.pids[i], at, got, m.code[j])
			}
		}
	}
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

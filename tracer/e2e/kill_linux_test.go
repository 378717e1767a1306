package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// killRounds is how often each program is traced and the tracer killed;
// WAYMARK_KILL_ROUNDS=1000 is for long runs.
const killRounds = 60

// However waymark ends, and whenever, SIGKILL amid attaching and detaching included, every
// reference counter returns to zero and every instruction to what it was.
func TestKilledAtAnyMoment(t *testing.T) {
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	rounds := killRounds
	if s := os.Getenv("WAYMARK_KILL_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]*storm{
		"C":  newStorm(t, manyMarkers(t, gcc, 300)),
		"Go": newStorm(t, allkinds(t, gobuild.Config{}), "-hold"),
	} {
		t.Run(name, func(t *testing.T) { s.run(t, rounds) })
	}
}

func (s *storm) run(t *testing.T, rounds int) {
	seed := peer.Seed(t)
	t.Logf("%d rounds on %d processes with %d sites, seed %d", rounds, stormProcesses, len(s.file.Sites), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	verbs := [][]string{{"stat", s.path}, {"trace", s.path}, {"stat", "-p", fmt.Sprint(s.pids[0])}, {"trace", "-p", fmt.Sprint(s.pids[0])}}
	waymark(t) // built before anything is timed
	took := s.attaching(t)
	left := 0
	for n := range rounds {
		// A third anywhere, a third while it starts and attaches, a third while it detaches.
		before, after := upTo(150*time.Millisecond), time.Duration(-1)
		switch n % 3 {
		case 1:
			before = upTo(took)
		case 2:
			before, after = took+upTo(20*time.Millisecond), upTo(60*time.Millisecond)
			if n%2 == 0 { // most of the work is done early
				after = upTo(10 * time.Millisecond)
			}
		}
		if !s.round(t, verbs[random.IntN(len(verbs))], before, after) {
			left++
			run(t, waymark(t), "stat", "-d", "1ms", s.path) // puts them back for the next round
		}
	}
	for i, m := range s.first {
		for j, at := range m.sites {
			if got := m.read(t, at, codeSize); !bytes.Equal(got, m.code[j]) {
				t.Errorf("process %d at %#x: % x, at first % x", s.pids[i], at, got, m.code[j])
			}
		}
	}
	t.Logf("attaching takes %v; %d of %d rounds left counters raised", took, left, rounds)
}

// round kills a waymark some time after its start, and reports whether all counters are zero
// then. Unless after is negative it is interrupted first, and killed so much later.
func (s *storm) round(t *testing.T, args []string, before, after time.Duration) bool {
	t.Helper()
	cmd := exec.Command(waymark(t), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(before)
	if after >= 0 {
		cmd.Process.Signal(os.Interrupt)
		time.Sleep(after)
	}
	cmd.Process.Kill()
	cmd.Wait()
	what := fmt.Sprintf("waymark %s, killed %v after its start and %v after an interrupt", strings.Join(args, " "), before, max(after, 0))
	eventually(t, "no guard after "+what, func() bool { return !guards(t, cmd.Process.Pid) })
	n := s.raised(t)
	if n > 0 {
		t.Errorf("%d counters are raised after %s", n, what)
	}
	return n == 0
}

// attaching is how long waymark takes to say that it has attached.
func (s *storm) attaching(t *testing.T) time.Duration {
	t.Helper()
	start := time.Now()
	w := watch(t, s.path)
	took := time.Since(start)
	if s.raised(t) == 0 {
		t.Error("no counter is raised while waymark is attached")
	}
	w.stop()
	return took
}

// guards reports whether the guard of pid is there. One that ends has no arguments any more before it has detached.
func guards(t *testing.T, pid int) bool {
	t.Helper()
	pids, err := procfs.PIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		comm, _ := procfs.Comm(p)
		if err == nil && (strings.HasPrefix(string(line), fmt.Sprintf("waymark: guard of %d\x00", pid)) || len(line) == 0 && comm == "waymark-guard" && !reaped(p)) {
			return true
		}
	}
	return false
}

// reaped reports whether a process has ended with all its threads, and released all that it held.
func reaped(pid int) bool {
	st, err := procfs.ReadStat(pid)
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || st.State == 'Z' && len(threads) <= 1
}

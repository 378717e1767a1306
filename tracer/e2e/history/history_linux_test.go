package history

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const (
	// patience is how long anything may take that is known to come to an end.
	patience = 2 * time.Minute
	// seedTime is how long the program of one seed marks, and seeds how many there are without WAYMARK_SEEDS.
	seedTime = 15 * time.Second
	seeds    = 4
)

// TestHistory runs seeds: one with WAYMARK_SEED, those of WAYMARK_SEEDS=A..B, otherwise some random ones.
// WAYMARK_HISTORY_TIME is how long the program of each marks, and WAYMARK_HISTORY_ENGINE=agent leaves out the kernel's
// engine. docs/trust.md has what is checked.
func TestHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	peer.Root(t)
	peer.Need(t, "gcc", "unshare", "nsenter")
	peer.Header(t, "sys/sdt.h")
	length := seedTime
	if s := os.Getenv("WAYMARK_HISTORY_TIME"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil || length <= 0 {
			t.Fatalf("WAYMARK_HISTORY_TIME=%s: %v", s, err)
		}
	}
	// Programs whose tracer is killed become children of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	engine := os.Getenv("WAYMARK_HISTORY_ENGINE")
	agents := engine == "agent"
	if engine != "" && !agents {
		t.Fatalf("WAYMARK_HISTORY_ENGINE=%s: agent, or all engines", engine)
	}
	b := build(t)
	for _, seed := range seedsToRun(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runSeed(t, b, draw(seed, length, agents)) })
	}
}

func seedsToRun(t *testing.T) (all []uint64) {
	t.Helper()
	if s := os.Getenv("WAYMARK_SEEDS"); s != "" {
		from, to, ok := strings.Cut(s, "..")
		if !ok {
			to = from
		}
		a, err := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		if err != nil || err2 != nil || b < a || b == math.MaxUint64 {
			t.Fatalf("WAYMARK_SEEDS=%s is not A..B", s)
		}
		for seed := a; seed <= b; seed++ {
			all = append(all, seed)
		}
		return all
	}
	if os.Getenv("WAYMARK_SEED") != "" {
		return []uint64{peer.Seed(t)}
	}
	r := peer.Random(t)
	for range seeds {
		all = append(all, uint64(r.Uint32()))
	}
	return all
}

// run is the history of one seed.
type run struct {
	t       *testing.T
	plan    *plan
	dir     string
	env     []string
	program *program
	*built

	all        []*tracing
	gone       atomic.Bool // the program was killed
	executed   atomic.Bool
	limits     sync.Mutex
	gdbs       sync.Mutex
	memory     string // the cgroup.procs of the tracers' limit, "" for none
	repaired   int
	mu         sync.Mutex
	violations []string
}

func (r *run) violation(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations = append(r.violations, fmt.Sprintf(format, args...))
}

func (r *run) timeout() <-chan time.Time { return time.After(patience) }

// below returns the command line in front of a tracer's.
func (r *run) below(s *tracing) []string {
	switch {
	case s.disk != nil:
		return s.disk.enter()
	case r.memory != "" && s.target != byCommand:
		return []string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, r.memory}
	}
	return nil
}

// session makes the run of a tracer out of its plan.
func (r *run) session(p *sessionPlan) *tracing {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &tracing{sessionPlan: p, run: r}
	s.name = fmt.Sprintf("tracer %d", len(r.all))
	s.session.kinds = p.wants
	s.apart = r.plan.form == goOptimized && !p.agent && !p.gated
	s.sees = s.visible
	if p.agent {
		s.slack = agentSlack
	}
	s.dir = filepath.Join(r.dir, fmt.Sprint(len(r.all)))
	r.all = append(r.all, s)
	return s
}

// agentSlack is how far the clock of agents, the processor's, may be from CLOCK_MONOTONIC.
const agentSlack = int64(50 * time.Microsecond)

func runSeed(t *testing.T, b *built, p *plan) {
	dir, err := os.MkdirTemp(scratch(t), "history")
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, plan: p, dir: dir, built: b}
	t.Logf("%v", p)
	r.env = []string{"XDG_RUNTIME_DIR=" + dir}
	if p.memory != 0 {
		group, _ := peer.MemoryCgroup(t, p.memory)
		r.memory = group + "/cgroup.procs"
	}
	r.program = newProgram(t, dir+"/program", copyProgram(t, b.programs[p.form]), p)
	var everything sync.WaitGroup
	var command *tracing
	if p.command != nil {
		command = r.session(p.command)
		if err := command.spawn(); err != nil {
			t.Fatal(err)
		}
	} else if err := r.program.start(nil, r.env); err != nil {
		t.Fatal(err)
	}
	if !r.program.running() {
		t.Fatalf("the program did not begin:\n%s", &r.program.stderr)
	}
	if command != nil {
		command.pid = r.program.pid()
		everything.Go(func() { command.startStrikes().Wait() })
	}
	begun := time.Now()
	for _, k := range p.strikes {
		everything.Go(func() {
			select {
			case <-time.After(k.at):
				r.strike(k)
			case <-r.program.done:
			}
		})
	}
	if p.bpftrace {
		everything.Go(func() { r.otherTracer(p.length / 2) })
	}
	for _, lane := range [][]*sessionPlan{p.lanes, p.second} {
		everything.Go(func() {
			for _, s := range lane {
				select {
				case <-r.program.done:
					return
				default:
				}
				if time.Since(begun) > p.length {
					return
				}
				r.session(s).live()
			}
		})
	}
	everything.Wait()
	r.end(command)
	r.check(command)
	for _, s := range r.all {
		if s.disk != nil {
			s.disk.free()
		}
	}
	if len(r.violations) == 0 {
		os.RemoveAll(dir)
		return
	}
	t.Errorf("%v\n%s\nfiles: %s\nreplay: WAYMARK_SEEDS=%d go test ./tracer/e2e/history -run TestHistory", p, strings.Join(r.violations, "\n"), dir, p.seed)
}

// end looks at the program when all tracers have gone, ends it, and compares its output with that of an untraced run.
func (r *run) end(command *tracing) {
	p := r.program
	if command == nil && !r.gone.Load() {
		if !p.close() && alive(p.pid()) {
			r.violation("threads of the program hang")
		}
		left := r.settled()
		if len(left) > 0 && r.leaky() {
			r.repaired += len(left)
			if err := r.repair(p.pid()); err != nil {
				r.violation("repairing: %v", err)
			}
			left = r.settled()
		}
		if len(left) > 0 {
			r.violation("when all tracers had ended:\n%s", strings.Join(left, "\n"))
		}
		p.open()
	}
	p.set(wordOver, 1)
	p.set(wordCalm, 0)
	select {
	case <-p.done:
	case <-r.timeout():
		r.violation("the program has not ended")
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGQUIT)
		<-p.done
	}
	if command != nil {
		command.ended = now()
		command.asked = command.ended
		r.awaitGuard(command)
	}
	r.checkFresh()
}

package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A plan is everything that a seed decides. The same seed gives the same plan; what the machine makes of it differs.
type plan struct {
	seed     uint64
	length   time.Duration
	agents   bool // no tracer uses the kernel's engine
	form     form
	threads  int
	locked   bool // goroutines are locked to threads
	burst    int  // marks between pauses
	pause    time.Duration
	forks    int // chance of a child before each mark, in millionths
	status   int
	command  *sessionPlan   // the tracer that starts the program, nil for none
	lanes    []*sessionPlan // tracers that run one after the other, until the time is over
	second   []*sessionPlan // others beside them
	memory   int64          // limit of the tracers' memory, 0 for none
	strikes  []strike       // at the program
	bpftrace bool
}

// form is how the program's markers are built.
type form int

const (
	goUnlinked form = iota
	goLinked
	goOptimized
	cCounter
	cPlain
	forms
)

func (f form) String() string {
	return [...]string{"Go", "Go linked", "Go optimized", "C with counters", "C without"}[f]
}

func (f form) isGo() bool { return f <= goOptimized }

// target is how a session names the program.
type target int

const (
	byPID target = iota
	byFile
	byCommand
)

// ending is how a session is asked to end.
type ending int

const (
	byInterrupt ending = iota
	byTerm
	byDuration
	byCount
	byProcess
)

// A sessionPlan is one run of a tracer.
type sessionPlan struct {
	verb    string
	agent   bool
	target  target
	follow  bool
	wants   [markKinds]bool
	buffer  int           // bytes, 0 for the default
	disk    int           // bytes of the file system of the trace, 0 for a large one
	gated   bool          // nothing is marked while it attaches, nor while it detaches
	life    time.Duration // from attached to asked
	ending  ending
	count   int
	strikes []strike // at the tracer; times count from its start
}

// A nemesis is something that strikes.
type nemesis int

const (
	stopTracer nemesis = iota
	stopGuard
	stopTarget
	killTracer
	killGuard
	killTarget
	freezeTracer
	freezeTarget
	throttleTracer
	throttleTarget
	limitProcesses
	debugger
	executes
	nemeses
)

func (n nemesis) String() string {
	return [...]string{"stop tracer", "stop guard", "stop target", "kill tracer", "kill guard", "kill target", "freeze tracer", "freeze target",
		"throttle tracer", "throttle target", "limit processes", "gdb", "exec"}[n]
}

// A strike is a nemesis at a time, for some time.
type strike struct {
	nemesis
	at, length time.Duration
	which      int // the thread that executes
}

func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s, %d threads", p.seed, p.form, p.threads)
	if p.forks > 0 {
		fmt.Fprintf(&b, ", forks")
	}
	if p.memory > 0 {
		fmt.Fprintf(&b, ", tracers have %d MiB", p.memory>>20)
	}
	if p.bpftrace {
		fmt.Fprintf(&b, ", bpftrace")
	}
	for _, s := range p.strikes {
		fmt.Fprintf(&b, ", %v at %v", s.nemesis, s.at.Round(time.Millisecond))
	}
	return b.String()
}

// draw makes the plan of a seed, with all engines or with agents only.
func draw(seed uint64, length time.Duration, agents bool) *plan {
	r := rand.New(rand.NewPCG(seed, 0))
	d := &drawing{Rand: r, plan: &plan{seed: seed, length: length, agents: agents}}
	p := d.plan
	p.form = []form{goUnlinked, goLinked, goLinked, goOptimized, goOptimized, cCounter, cCounter, cPlain}[r.IntN(8)]
	if agents && !p.form.isGo() {
		p.form = goOptimized
	}
	p.threads = 1 + r.IntN(6)
	p.locked = d.chance(50)
	p.burst = []int{1, 20, 200, 3000}[r.IntN(4)]
	each := 40 + r.IntN(400) // microseconds between two marks, of all threads
	if d.chance(15) {
		each = 5
	}
	p.pause = time.Duration(p.burst*each*p.threads) * time.Microsecond
	p.pause = min(max(p.pause, 100*time.Microsecond), 300*time.Millisecond)
	if d.chance(30) {
		p.forks = 200 + r.IntN(3000)
	}
	p.status = r.IntN(90)
	for n := range nemeses {
		d.allowed[n] = d.chance(35)
	}
	d.allowed[killTarget] = d.chance(12)
	if p.form.isGo() || d.allowed[executes] {
		d.allowed[limitProcesses] = false // they need threads, and would end without a tracer too
	}
	d.disk = d.chance(30)
	if d.chance(15) {
		p.memory = int64(32+r.IntN(96)) << 20
	}
	p.bpftrace = p.form != goUnlinked && !agents && d.chance(12)
	if d.chance(25) {
		p.command = d.session(byCommand)
	}
	p.lanes = d.lane()
	if d.chance(40) {
		p.second = d.lane()
		for _, s := range p.second {
			s.gated = false // there is one gate
		}
	}
	for _, n := range []nemesis{stopTarget, killTarget, freezeTarget, throttleTarget, limitProcesses, debugger, executes} {
		if !d.allowed[n] {
			continue
		}
		times := 1 + r.IntN(4)
		if n == killTarget {
			times = 1
		}
		for range times {
			at := d.upTo(length)
			if n == killTarget {
				at = length/3 + at/2
			}
			p.strikes = append(p.strikes, strike{n, at, 20*time.Millisecond + d.upTo(time.Second), r.IntN(p.threads)})
		}
	}
	return p
}

// drawing draws a plan.
type drawing struct {
	*rand.Rand
	*plan
	allowed [nemeses]bool
	disk    bool
}

func (d *drawing) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawing) upTo(t time.Duration) time.Duration { return time.Duration(d.Int64N(int64(t))) }

// lane draws sessions for the whole time.
func (d *drawing) lane() (all []*sessionPlan) {
	for total := time.Duration(0); total < d.length; {
		to := byPID
		if d.chance(40) {
			to = byFile
		}
		s := d.session(to)
		all = append(all, s)
		total += s.life + 100*time.Millisecond
	}
	return all
}

func (d *drawing) session(to target) *sessionPlan {
	s := &sessionPlan{target: to}
	s.verb = []string{"stat", "trace", "record", "latency", "trace", "record"}[d.IntN(6)]
	s.agent = d.form == goUnlinked || d.agents || d.form.isGo() && d.chance(40)
	if s.agent && s.target == byFile {
		s.target = byPID
	}
	s.follow = !s.agent && s.target != byFile && d.chance(30)
	if s.agent && to == byPID && d.chance(20) {
		s.verb = "flight"
	}
	s.wants = [...][markKinds]bool{{true, true}, {true, false}, {false, true}, {true, true}}[d.IntN(4)]
	if s.verb == "latency" {
		s.wants = [markKinds]bool{true, true}
	}
	if d.chance(40) {
		s.buffer = 4096 << d.IntN(7)
		if s.agent {
			s.buffer = max(s.buffer, 64<<10)
		}
	}
	if s.verb == "record" && to != byCommand && d.disk && d.chance(40) {
		s.disk = 256 << 10 << d.IntN(4)
	}
	s.gated = d.chance(50)
	s.life = 50*time.Millisecond + d.upTo(2*time.Second)
	s.ending = []ending{byInterrupt, byInterrupt, byInterrupt, byTerm, byDuration, byCount}[d.IntN(6)]
	s.count = 1 + d.IntN(5000)
	if to == byCommand {
		s.ending = byProcess
		s.gated = false
	}
	d.strikeTracer(s)
	return s
}

// strikeTracer draws what happens to a tracer. The guard of one that has started the program is never killed: such a
// tracer ends by an error, and how its command goes on is its own affair.
func (d *drawing) strikeTracer(s *sessionPlan) {
	span := s.life + 150*time.Millisecond
	if s.target == byCommand {
		span = d.length
	}
	for _, n := range []nemesis{stopTracer, stopGuard, killTracer, killGuard, freezeTracer, throttleTracer} {
		if !d.allowed[n] || !d.chance(40) || s.agent && (n == stopGuard || n == killGuard) {
			continue
		}
		if n == killGuard && s.target == byCommand {
			continue
		}
		s.strikes = append(s.strikes, strike{nemesis: n, at: d.upTo(span), length: 5*time.Millisecond + d.upTo(500*time.Millisecond)})
	}
}

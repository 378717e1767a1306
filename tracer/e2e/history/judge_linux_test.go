package history

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// check compares files of the program with those of the tracers.
func (r *run) check(command *tracing) {
	threads, err := r.program.threads()
	if err != nil {
		r.violation("%v", err)
		return
	}
	r.compareOutput(threads, command)
	var sessions [2]uint64 // by engine
	var exact, received, lost, marks uint64
	for _, t := range threads {
		marks += uint64(len(t.marks))
	}
	for _, s := range r.all {
		if !s.flown && (s.cmd == nil || s.cmd.Process == nil) {
			continue
		}
		if err := s.collect(); err != nil {
			r.violation("%s: %v", s.describe(), err)
			continue
		}
		s.judge()
		v := s.check(threads)
		r.t.Logf("%s: %d received, %d lost, %d…%d; %v", s.describe(), v.received, v.lost, v.inside, v.possible, s.err)
		for _, text := range v.violations {
			r.violation("%s\n\tby %s", text, s.describe())
		}
		sessions[btoi(s.agent)]++
		if v.exact() && s.summary {
			exact++
		}
		received += v.received
		lost += v.lost
	}
	// scripts/trust adds these up.
	r.t.Logf("totals: %d s, %d marks, %d sessions of the kernel engine, %d of agents, %d exact, %d received, %d lost, %d leaked by the kernel and repaired, 1 %s",
		int(r.plan.length.Seconds()), marks, sessions[0], sessions[1], exact, received, lost, r.repaired, r.plan.form)
}

// judge decides whether it ended as it should, and what its output can prove.
func (s *tracing) judge() {
	r := s.run
	switch s.end {
	case "count":
		s.counted = uint64(s.count)
	case "disk":
		s.cut = true
	}
	if s.target == byCommand && !s.was(killTracer) {
		return // its status is the program's
	}
	if s.err == nil {
		if !s.summary {
			r.violation("%s ended well without a summary", s.describe())
		}
		return
	}
	said := s.said()
	if s.was(killGuard) { // the probes were gone from then on, one marker after the other
		s.asked = min(s.asked, s.guardKilled)
	}
	switch {
	case s.was(killTracer), r.memory != "":
		s.cut, s.summary = true, false
		s.losses = s.losses && s.verb == "record"
	case s.was(killGuard):
		// What was collected until then is there, as far as there is a summary.
		if !s.summary {
			s.losses = false
		}
	case s.disk != nil && strings.Contains(said, "no space left on device"):
		s.cut = true
	case s.attachedAt.Load() == 0 && (r.gone.Load() || r.executed.Load()):
		s.losses = false
	default:
		r.violation("%s: %v\n%s", s.describe(), s.err, said)
	}
}

var stopped = regexp.MustCompile(`, \d+ were stopped`)

// compareOutput runs the program again, without a tracer, with as many marks for each thread, and compares.
func (r *run) compareOutput(threads []*thread, command *tracing) {
	p := r.program
	if p.killed.Load() {
		want := "signal: killed"
		if command != nil && !p.orphaned.Load() {
			want = "exit status 137" // the tracer's
		}
		if p.status != want {
			r.violation("the program, killed, ended by %s, want %s:\n%s", p.status, want, &p.stderr)
		}
		return
	}
	var args []string
	for _, l := range splitLines(p.stdout.String()) {
		var slot, n int
		if k, _ := fmt.Sscanf(l, "thread %d marked %d,", &slot, &n); k == 2 {
			args = append(args, fmt.Sprint(n))
		}
	}
	if len(args) != r.plan.threads {
		r.violation("the program wrote\n%sand ended by %s:\n%s", &p.stdout, p.status, &p.stderr)
		return
	}
	again := newProgram(r.t, r.dir+"/again", p.path, r.plan)
	again.set(wordCalm, 0)
	cmd := exec.Command(p.path, append([]string{again.dir}, args...)...)
	cmd.Env = append(os.Environ(), "WAYMARK_AGENT=0")
	out, err := cmd.Output()
	got := p.stdout.String()
	if !stopsSeen {
		got = stopped.ReplaceAllString(got, ", 0 were stopped")
	}
	if got != string(out) {
		r.violation("the program wrote\n%sand untraced\n%s%s", got, out, &p.stderr)
	}
	if p.status != fmt.Sprint(err) {
		r.violation("the program ended by %s, and untraced by %v:\n%s", p.status, err, &p.stderr)
	}
	sum := uint64(0)
	for _, t := range threads {
		sum += uint64(len(t.marks))
	}
	r.t.Logf("%d threads, %d marks; %d forks refused, executed %d times by the first thread, %d by others",
		len(threads), sum, p.get(wordRefused), p.get(wordByFirst), p.get(wordByOther))
}

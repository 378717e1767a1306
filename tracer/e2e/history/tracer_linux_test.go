package history

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// tracing is one run of waymark beside the program.
type tracing struct {
	*sessionPlan
	session
	run *run
	dir string
	cmd *exec.Cmd

	mu     sync.Mutex
	stderr strings.Builder
	struck [nemeses]bool

	attachedAt atomic.Int64 // 0 until it has reported that it has attached
	heard      chan struct{}
	done       chan struct{}
	err        error

	end                 string // why it ended, by its summary
	guardKilled         int64  // when
	pid                 int
	imageAt, imageAfter int // of the program: when it started, when it had attached
	disk                *disk
	flown               bool // a flight recorder has written a trace
}

// arguments returns its command line.
func (s *tracing) arguments() []string {
	args := []string{s.verb, "--json", "--engine", map[bool]string{true: "agent", false: "kernel"}[s.agent]}
	output := filepath.Join(s.dir, "output")
	if s.verb == "record" {
		output = filepath.Join(s.dir, "trace")
		if s.disk != nil {
			output = s.disk.inside + "/trace"
		}
	}
	args = append(args, "-o", output)
	if s.verb == "record" || s.verb == "trace" {
		if s.buffer != 0 {
			args = append(args, "--buffer", fmt.Sprint(s.buffer))
		}
	} else {
		args = append(args, "-I", "100ms")
	}
	switch s.ending {
	case byDuration:
		args = append(args, "-d", s.life.String())
	case byCount:
		args = append(args, "-n", fmt.Sprint(s.count))
	}
	if s.follow {
		args = append(args, "--follow")
	}
	switch s.target {
	case byPID:
		args = append(args, "-p", fmt.Sprint(s.pid))
	case byFile:
		args = append(args, s.run.program.path)
	}
	for kind, asked := range s.wants {
		if asked {
			args = append(args, markNames[kind])
		}
	}
	if s.target == byCommand {
		args = append(args, "--")
	}
	return args
}

// describe names it for violations.
func (s *tracing) describe() string {
	b := strings.Join(s.arguments()[:1], " ")
	args := s.arguments()
	for i := 2; i < len(args); i++ {
		if args[i] == "-o" {
			i++
			continue
		}
		b += " " + args[i]
	}
	if s.gated {
		b += " (gated)"
	}
	for _, k := range s.strikes {
		b += fmt.Sprintf(", %v at %v", k.nemesis, k.at.Round(time.Millisecond))
	}
	return s.name + ": waymark " + b
}

// spawn starts it. The program is started by it if it is that of a command.
func (s *tracing) spawn() error {
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	s.heard, s.done = make(chan struct{}), make(chan struct{})
	if s.sessionPlan.disk != 0 {
		d, err := newDisk(s.dir, s.sessionPlan.disk)
		if err != nil {
			return err
		}
		s.disk = d
	}
	s.imageAt = s.run.program.image()
	argv := slices.Concat(s.run.below(s), []string{s.run.waymark}, s.arguments())
	s.spawned = now()
	if s.target == byCommand {
		s.attached = s.spawned
		if err := s.run.program.start(argv, s.run.env); err != nil {
			return err
		}
		s.cmd = s.run.program.cmd
		go func() {
			<-s.run.program.done
			s.finish(s.run.program.err)
		}()
		return nil
	}
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Env = append(os.Environ(), s.run.env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := os.Create(s.dir + "/stdout")
	if err != nil {
		return err
	}
	defer stdout.Close()
	s.cmd.Stdout = stdout
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		s.listen(bufio.NewReader(stderr))
		s.finish(s.cmd.Wait())
	}()
	return nil
}

func (s *tracing) finish(err error) {
	s.ended = now()
	s.err = err
	close(s.done)
}

// listen reads what it reports until it ends.
func (s *tracing) listen(lines *bufio.Reader) {
	for {
		line, err := lines.ReadString('\n')
		s.mu.Lock()
		s.stderr.WriteString(line)
		s.mu.Unlock()
		if strings.Contains(line, "attached to ") && s.attachedAt.Load() == 0 {
			s.attachedAt.Store(now())
			close(s.heard)
		}
		if err != nil {
			return
		}
	}
}

func (s *tracing) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

func (s *tracing) hit(n nemesis) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.struck[n] = true
}

func (s *tracing) was(n nemesis) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.struck[n]
}

// live runs it from its start to its end.
func (s *tracing) live() {
	r := s.run
	s.pid = r.program.pid()
	s.attached, s.asked = math.MaxInt64, math.MaxInt64
	if s.verb == "flight" {
		s.fly()
		return
	}
	closed := s.gated
	if closed && !r.program.close() {
		r.program.open()
		return
	}
	err := s.spawn()
	if err != nil {
		if closed {
			r.program.open()
		}
		r.violation("%s: starting it: %v", s.describe(), err)
		return
	}
	strikes := s.startStrikes()
	select {
	case <-s.heard:
		s.attached = s.attachedAt.Load()
		s.imageAfter = r.program.image()
	case <-s.done:
	case <-r.timeout():
	}
	if closed {
		r.program.open()
	}
	s.sleep(s.life)
	closed = s.gated && s.ending != byDuration && s.ending != byCount
	if closed {
		r.program.close()
	}
	switch s.ending {
	case byInterrupt, byTerm:
		s.asked = now()
		s.cmd.Process.Signal(map[ending]os.Signal{byInterrupt: os.Interrupt, byTerm: syscall.SIGTERM}[s.ending])
	case byDuration:
		s.asked = s.spawned + int64(s.life)
	case byCount:
		if !s.sleep(3 * time.Second) {
			s.asked = now()
			s.cmd.Process.Signal(os.Interrupt)
		}
	}
	select {
	case <-s.done:
	case <-r.timeout():
		r.violation("%s has not ended after %v:\n%s", s.describe(), patience, s.said())
		s.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(time.Second)
		s.cmd.Process.Kill()
		<-s.done
	}
	if closed {
		r.program.open()
	}
	strikes.Wait()
	r.awaitGuard(s)
}

// sleep waits, and reports whether it ended meanwhile.
func (s *tracing) sleep(t time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(t):
		return false
	}
}

// guard returns the process that holds its probes, 0 for none.
func (s *tracing) guard() int {
	if s.cmd == nil || s.cmd.Process == nil {
		return 0
	}
	pids, err := procfs.PIDs()
	if err != nil {
		return 0
	}
	title := fmt.Sprintf("waymark: guard of %d\x00", s.tracer())
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasPrefix(string(line), title) {
			return pid
		}
	}
	return 0
}

// tracer returns the process of waymark: below a process that has entered another mount namespace it is the same one.
func (s *tracing) tracer() int { return s.cmd.Process.Pid }

// visible returns what it sees of a thread.
func (s *tracing) visible(t *thread) visibility {
	switch {
	case s.target == byFile:
		return must
	case t.pid == s.pid && t.child:
		return may // the number was used again
	case t.pid == s.pid:
		steady := s.imageAt == s.imageAfter && s.imageAt != 0
		switch {
		case s.target == byCommand && !s.agent, s.target == byCommand && t.image == 1, s.target != byCommand && steady && t.image == s.imageAt:
			return must
		case s.agent && (s.target == byCommand || steady):
			return never // each program of a process has an agent of its own
		}
		return may
	case s.follow && t.child:
		if t.born > s.attached {
			return must
		}
		return may
	}
	return never
}

package history

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// startStrikes strikes at a tracer from its start on, as planned.
func (s *tracing) startStrikes() *sync.WaitGroup {
	var all sync.WaitGroup
	for _, k := range s.strikes {
		all.Go(func() {
			if s.sleep(k.at) {
				return
			}
			s.strike(k)
		})
	}
	return &all
}

func (s *tracing) strike(k strike) {
	tracer := s.tracer()
	switch k.nemesis {
	case stopTracer:
		s.run.stop(tracer, k.length)
	case killTracer:
		if s.target == byCommand {
			s.run.program.orphaned.Store(true)
		}
		s.hit(killTracer)
		s.cmd.Process.Kill()
	case stopGuard, killGuard:
		guard := s.guard()
		if guard == 0 {
			return
		}
		if k.nemesis == stopGuard {
			s.run.stop(guard, k.length)
			break
		}
		s.hit(killGuard)
		s.guardKilled = now()
		syscall.Kill(guard, syscall.SIGKILL)
	case freezeTracer:
		s.run.limit("freezer", "freezer.state", "FROZEN", "THAWED", "cgroup.freeze", "1", "0", k.length, tracer, s.guard())
	case throttleTracer:
		s.run.limit("cpu", "cpu.cfs_quota_us", "5000", "-1", "cpu.max", "5000 100000", "max 100000", k.length, tracer, s.guard())
	}
	s.hit(k.nemesis)
}

// stop stops a process for some time.
func (r *run) stop(pid int, length time.Duration) {
	if pid <= 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	time.Sleep(length)
	syscall.Kill(pid, syscall.SIGCONT)
}

// strike strikes at the program.
func (r *run) strike(k strike) {
	p := r.program
	pid := p.pid()
	if pid == 0 {
		return
	}
	switch k.nemesis {
	case stopTarget:
		r.stop(pid, k.length)
	case killTarget:
		r.gone.Store(true)
		p.killed.Store(true)
		syscall.Kill(pid, syscall.SIGKILL)
	case freezeTarget:
		r.limit("freezer", "freezer.state", "FROZEN", "THAWED", "cgroup.freeze", "1", "0", k.length, pid)
	case throttleTarget:
		r.limit("cpu", "cpu.cfs_quota_us", "10000", "-1", "cpu.max", "10000 100000", "max 100000", k.length, pid)
	case limitProcesses:
		r.limit("pids", "pids.max", "4", "max", "pids.max", "4", "max", k.length, pid)
	case debugger:
		r.debug(pid, k.length)
	case executes:
		r.executed.Store(true)
		if !executesByOthers {
			k.which = 0
		}
		p.set(wordExec, uint64(k.which+1))
	}
}

// debug has gdb stop the program, look at it, and let it go.
func (r *run) debug(pid int, length time.Duration) {
	if r.gdb == "" {
		return
	}
	r.gdbs.Lock() // a process has one debugger
	defer r.gdbs.Unlock()
	cmd := exec.Command(r.gdb, "-nx", "-batch", "-p", fmt.Sprint(pid), "-ex", "info threads", "-ex", "x/4i $pc",
		"-ex", fmt.Sprintf("shell sleep %.3f", length.Seconds()), "-ex", "detach")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Logf("gdb: %v\n%.1000s", err, out)
	}
}

// limit puts processes into a cgroup with a limit for some time; the two files and their values are those of cgroup
// version 1, below a controller, and of version 2.
func (r *run) limit(controller, file1, on1, off1, file2, on2, off2 string, length time.Duration, pids ...int) {
	dir, two, err := newCgroup(controller)
	if err != nil {
		r.t.Logf("no cgroup for %s: %v", controller, err)
		return
	}
	file, on, off := filepath.Join(dir, file1), on1, off1
	home := filepath.Dir(dir)
	if two {
		file, on, off = filepath.Join(dir, file2), on2, off2
	}
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0) }
	r.limits.Lock()
	defer r.limits.Unlock()
	for _, pid := range pids {
		if pid > 0 {
			write(dir+"/cgroup.procs", fmt.Sprint(pid))
		}
	}
	if err := write(file, on); err != nil {
		r.t.Logf("limiting %s: %v", file, err)
	}
	time.Sleep(length)
	err = write(file, off)
	// All that were made meanwhile go back, too.
	for range 1000 {
		members, _ := os.ReadFile(dir + "/cgroup.procs")
		for pid := range splitFields(string(members)) {
			err = errors.Join(err, ignoreGone(write(home+"/cgroup.procs", pid)))
		}
		if e := os.Remove(dir); e == nil || os.IsNotExist(e) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		r.violation("lifting the limit of %s: %v", file, err)
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// newCgroup makes a cgroup, and reports whether it is one of version 2.
func newCgroup(controller string) (dir string, two bool, err error) {
	name := fmt.Sprintf("waymark-history-%d-%d", os.Getpid(), now())
	dir = filepath.Join("/sys/fs/cgroup", controller, name)
	if err = os.Mkdir(dir, 0o755); err == nil {
		return dir, false, nil
	}
	if _, e := os.Stat("/sys/fs/cgroup/cgroup.controllers"); e != nil {
		return "", false, err
	}
	dir = filepath.Join("/sys/fs/cgroup", name)
	return dir, true, os.Mkdir(dir, 0o755)
}

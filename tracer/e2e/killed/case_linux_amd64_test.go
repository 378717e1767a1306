package killed

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/sdt"
)

// programs are the executables of all cases.
type programs struct {
	waymark string
	linked  string    // the target
	plain   string    // before it was linked
	sites   *sdt.File // of the target
}

// one is one run of a verb, and a program for it to trace.
type one struct {
	*programs
	t      *testing.T
	dir    string
	env    []string
	target *talk.Program
	pid    string
	code   []byte // of the target, before anything was attached
	dead   bool   // the target was killed before the verb ran
	leaked int    // counters that doctor has repaired
}

// patience is how long something that must come may take.
const patience = time.Minute

func (p *programs) begin(t *testing.T) *one {
	t.Helper()
	dir, err := os.MkdirTemp("", "waymark-killed") // a path that tracefs takes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &one{programs: p, t: t, dir: dir}
	for _, dir := range []string{"run", "tmp"} {
		c.must(os.Mkdir(c.path(dir), 0o700))
	}
	c.env = append(os.Environ(), "XDG_RUNTIME_DIR="+c.path("run"), "TMPDIR="+c.path("tmp"))
	// Each case has a file of its own: none meets what the kernel leaked for another.
	c.copy(p.linked, "target")
	cmd := exec.Command(c.path("target"))
	cmd.Env = c.env
	c.target = talk.Start(t, cmd)
	c.target.Expect("ready")
	c.pid = fmt.Sprint(c.target.PID())
	c.code = c.text()
	return c
}

func (c *one) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *one) path(name string) string { return filepath.Join(c.dir, name) }

func (c *one) copy(from, name string) {
	c.t.Helper()
	data, err := os.ReadFile(from)
	c.must(err)
	c.must(os.WriteFile(c.path(name), data, 0o700))
}

// waymarkDoes runs a verb that is not killed.
func (c *one) waymarkDoes(args ...string) (output string, err error) {
	cmd := exec.Command(c.waymark, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// needs is waymarkDoes for a verb that must succeed.
func (c *one) needs(args ...string) string {
	c.t.Helper()
	out, err := c.waymarkDoes(args...)
	if err != nil {
		c.t.Errorf("waymark %q: %v\n%s", args, err, out)
	}
	return out
}

// text returns the code of the target's file as it is in memory.
func (c *one) text() (code []byte) {
	c.t.Helper()
	c.eachMapping(func(m *procfs.Mapping, memory *procfs.Memory) {
		if m.Executable {
			b := make([]byte, m.End-m.Start)
			c.must(memory.Read(b, m.Start))
			code = append(code, b...)
		}
	})
	return code
}

// raised returns how many reference counters of the target are not zero.
func (c *one) raised() (n int) {
	c.t.Helper()
	c.eachMapping(func(m *procfs.Mapping, memory *procfs.Memory) {
		for i := range c.sites.Sites {
			at := uint64(c.sites.Sites[i].CounterOffset)
			if !m.Writable || at < m.Offset || at-m.Offset >= m.End-m.Start {
				continue
			}
			v, err := memory.Counter(m.Start + at - m.Offset)
			c.must(err)
			if v != 0 {
				n++
			}
		}
	})
	return n
}

func (c *one) eachMapping(fn func(*procfs.Mapping, *procfs.Memory)) {
	c.t.Helper()
	maps, err := procfs.Maps(c.target.PID())
	c.must(err)
	memory, err := procfs.OpenMemory(c.target.PID(), false)
	c.must(err)
	defer memory.Close()
	for i := range maps {
		if maps[i].Path == c.path("target") {
			fn(&maps[i], memory)
		}
	}
}

// eventually waits until what another process does is done.
func (c *one) eventually(what string, done func() bool) {
	c.t.Helper()
	for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			c.t.Errorf("not within %v: %s", patience, what)
			return
		}
	}
}

// check holds the target, the files and the kernel to what is promised however waymark ended.
func (c *one) check(s *scenario) {
	c.t.Helper()
	if !c.dead {
		if n := c.raised(); n > 0 || !bytes.Equal(c.text(), c.code) {
			c.leaked = n
			out := c.needs("doctor", "-p", c.pid, "--repair", "--yes")
			if !strings.Contains(out, "left by a tracer that died") {
				c.t.Errorf("doctor does not find %d counters that are raised:\n%s", n, out)
			}
		}
		if n := c.raised(); n > 0 {
			c.t.Errorf("%d counters are raised", n)
		}
		if !bytes.Equal(c.text(), c.code) {
			c.t.Error("the target's code has changed")
		}
	}
	if s.verify != nil {
		s.verify(c)
	}
	if !c.dead {
		c.eventually("the target is not armed", func() bool { return c.target.Ask("look") == "armed false" })
		c.target.Tell("end")
		c.target.Expect("ended")
		if err := c.target.Cmd.Wait(); err == nil || c.target.Cmd.ProcessState.ExitCode() != 7 {
			c.t.Errorf("the target ended with %v, untraced with status 7", err)
		}
	}
	c.leftovers(s)
}

// leftovers finds files that nothing documents.
func (c *one) leftovers(s *scenario) {
	c.t.Helper()
	for _, dir := range []string{".", "tmp"} {
		entries, err := os.ReadDir(c.path(dir))
		c.must(err)
		for _, e := range entries {
			known := dir == "." && (slices.Contains([]string{"run", "tmp", "target", "output"}, e.Name()) || slices.ContainsFunc(s.files, func(pattern string) bool {
				ok, err := filepath.Match(pattern, e.Name())
				c.must(err)
				return ok
			}))
			if !known {
				c.t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
	runtime, err := filepath.Glob(c.path("run/waymark/*/*"))
	c.must(err)
	if len(runtime) > 0 && !s.rings {
		c.t.Errorf("left in the runtime directory: %q", runtime)
	}
}

package tracer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// find returns the check of that name.
func (c checks) find(t *testing.T, name string) Check {
	t.Helper()
	for _, one := range c {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no check %q in %+v", name, c)
	return Check{}
}

// The doctor's own probes are gone when it is done.
func TestCheckSystem(t *testing.T) {
	peer.Root(t)
	file, offset, err := harmless()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := make([]byte, 1)
	if _, err := file.ReadAt(want, int64(offset)); err != nil {
		t.Fatal(err)
	}
	c := checks(CheckSystem())
	for _, one := range c {
		if one.Status == StatusFail {
			t.Errorf("%+v", one)
		}
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	got := make([]byte, 1)
	if _, err := memory.ReadAt(got, int64(reflect.ValueOf(bystander).Pointer())); err != nil || got[0] != want[0] {
		t.Errorf("after the checks the instruction begins with %#x, %v; in the file with %#x", got, err, want)
	}
	if s := c.find(t, "stat"); !strings.Contains(s.Reason, "attached by") {
		t.Errorf("%+v", s)
	}
}

// What attaching refuses is refused here, and nothing else.
func TestCheckPIDRedZone(t *testing.T) {
	keepRedZone = true
	defer func() { keepRedZone = false }()
	for _, path := range []string{tick(t), tick5(t)} {
		p := startTick(t, path, 1)
		made, markers := CheckPID(context.Background(), p.PID())
		want := StatusOK
		c, err := Count(Target{PID: p.PID()}, markers, nil)
		if err == nil {
			closeNow(t, c)
		} else {
			want = StatusFail
		}
		if got := checks(made).find(t, "markers"); got.Status != want {
			t.Errorf("%s: %+v, want %v; attaching: %v", path, got, want, err)
		}
	}
}

func TestCheckPID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tick")
	run(t, "cp", tick(t), path)
	p := startTick(t, path, 1)
	// Replaced while it runs, by another file.
	run(t, "cp", tick(t), path+".new")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	made, markers := CheckPID(context.Background(), p.PID())
	c := checks(made)
	if d := c.find(t, "deleted"); d.Status != StatusWarn || !strings.Contains(d.Reason, path) {
		t.Errorf("%+v", d)
	}
	if m := c.find(t, "markers"); m.Status != StatusOK || len(markers) == 0 {
		t.Errorf("%+v, %d markers", m, len(markers))
	}
	if _, pids := CheckFile(context.Background(), path); len(pids) != 0 {
		t.Errorf("%v map the new file, want none", pids)
	}
	for what, pid := range map[string]int{"this process": os.Getpid(), "a thread of the kernel": 2, "one that has ended": ended(t)} {
		made, _ := CheckPID(context.Background(), pid)
		if len(made) != 1 || made[0].Status != StatusFail {
			t.Errorf("%s: %+v", what, made)
		}
	}
}

// ended returns the number of a process that was.
func ended(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

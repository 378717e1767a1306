package tracer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/tracer/doctor"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
)

// checks are what the doctor found.
type checks []doctor.Check

// find returns the check of that name.
func (c checks) find(t *testing.T, name string) doctor.Check {
	t.Helper()
	for _, one := range c {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no check %q in %+v", name, c)
	return doctor.Check{}
}

// What attaching refuses is refused here, and nothing else.
func TestCheckPIDRedZone(t *testing.T) {
	for _, path := range []string{tick(t), tick5(t), mixed(t)} {
		p := startTick(t, path, 1)
		made, markers := doctor.CheckPID(context.Background(), p.PID())
		c, err := Count(PIDs(p.PID()), markers, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeNow(t, c)
		want := doctor.OK
		if len(c.Skipped()) > 0 {
			want = doctor.Warn
		}
		if got := checks(made).find(t, "markers"); got.Status != want {
			t.Errorf("%s: %+v, want %v; left out: %v", path, got, want, c.Skipped())
		}
		if g, err := feature.UprobeGeneration(); err == nil && g == feature.Nop5 && (want == doctor.Warn) != (path == mixed(t)) {
			t.Errorf("%s: left out: %v", path, c.Skipped())
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
	made, markers := doctor.CheckPID(context.Background(), p.PID())
	c := checks(made)
	if d := c.find(t, "deleted"); d.Status != doctor.Warn || !strings.Contains(d.Reason, path) {
		t.Errorf("%+v", d)
	}
	if m := c.find(t, "markers"); m.Status != doctor.OK || len(markers) == 0 {
		t.Errorf("%+v, %d markers", m, len(markers))
	}
	if _, pids := doctor.CheckFile(context.Background(), path); len(pids) != 0 {
		t.Errorf("%v map the new file, want none", pids)
	}
	for what, pid := range map[string]int{"this process": os.Getpid(), "a thread of the kernel": 2, "one that has ended": ended(t)} {
		made, _ := doctor.CheckPID(context.Background(), pid)
		if len(made) != 1 || made[0].Status != doctor.Fail {
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

package tracer

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// refusal is what the unprivileged helper reports, as JSON.
type refusal struct {
	Error      string
	Capability string
	Hint       string
}

// unprivileged finds and counts as somebody who may not, and prints how it was refused.
func unprivileged(arg string) {
	var a unprivilegedArg
	if err := json.Unmarshal([]byte(arg), &a); err != nil {
		panic(err)
	}
	target := Target{pids: a.PIDs, path: a.Path}
	markers, err := Find(context.Background(), target)
	if err == nil {
		var c *Counter
		if c, err = Count(target, markers, nil); err == nil {
			err = c.Close()
		}
	}
	var r refusal
	var p *PermissionError
	if errors.As(err, &p) {
		r.Capability, r.Hint = p.Capability, p.Hint
	}
	if err != nil {
		r.Error = err.Error()
	}
	json.NewEncoder(os.Stdout).Encode(r)
}

// unprivilegedArg is a Target for another process.
type unprivilegedArg struct {
	PIDs []int
	Path string
}

func TestPermission(t *testing.T) {
	path := tick(t)
	p := startTick(t, path, 1)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody else must be able to reach the helper and the target.
	program := filepath.Join(binDir, "unprivileged")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(binDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		target Target
		caps   []procfs.Capability
		want   string // the capability that is missing, "" for none
	}{
		{"file without any", Path(path), nil, "CAP_BPF and CAP_PERFMON"},
		{"file with BPF", Path(path), []procfs.Capability{procfs.BPF}, "CAP_PERFMON"},
		{"file with PERFMON", Path(path), []procfs.Capability{procfs.Perfmon}, "CAP_BPF"},
		{"file with both", Path(path), []procfs.Capability{procfs.BPF, procfs.Perfmon}, ""},
		// Newer kernels show mappings to CAP_PERFMON, older ones to CAP_SYS_PTRACE only.
		{"process of another", PIDs(p.PID()), nil, "CAP_SYS_PTRACE"},
		{"process with all", PIDs(p.PID()), []procfs.Capability{procfs.BPF, procfs.Perfmon, procfs.SysPtrace, procfs.CheckpointRestore}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			arg, err := json.Marshal(unprivilegedArg{test.target.pids, test.target.path})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program)
			cmd.Dir = "/"
			cmd.Env = []string{unprivilegedEnv + "=" + string(arg)}
			cmd.Stderr = os.Stderr
			attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			for _, c := range test.caps {
				attr.AmbientCaps = append(attr.AmbientCaps, uintptr(c))
			}
			cmd.SysProcAttr = attr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var r refusal
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%s\nhint: %s", r.Error, r.Hint)
			if r.Capability != test.want || (r.Error == "") != (test.want == "") {
				t.Errorf("missing capability %q, error %q; want %q", r.Capability, r.Error, test.want)
			}
			if test.want != "" && !strings.Contains(r.Hint, "setcap") {
				t.Errorf("hint is %q", r.Hint)
			}
		})
	}
}

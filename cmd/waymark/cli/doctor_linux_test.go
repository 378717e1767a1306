package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// somebody runs waymark with some capabilities, and returns what it prints and its exit status.
type somebody struct {
	t       *testing.T
	program string
	attr    *syscall.SysProcAttr
}

func (s *somebody) run(args ...string) ([]byte, int) {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Dir, cmd.SysProcAttr = "/", s.attr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out, cmd.ProcessState.ExitCode()
}

// checks runs what prints the objects of doctor --json.
func (s *somebody) checks(args ...string) (map[string]jsonCheck, int) {
	s.t.Helper()
	out, status := s.run(args...)
	all := map[string]jsonCheck{}
	for line := range bytes.Lines(out) {
		var c jsonCheck
		if err := json.Unmarshal(line, &c); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		s.t.Logf("%s  %s: %s (%s)", c.Status, c.Check, c.Reason, c.Hint)
		all[c.Check] = c
	}
	return all, status
}

// What the doctor says of privileges is what stat and trace meet.
func TestDoctorPrivileges(t *testing.T) {
	peer.Root(t)
	tick := filepath.Join(compileTick(t), "tick")
	dir, err := os.MkdirTemp("", "waymark-doctor-") // others cannot reach t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, from := range map[string]string{"waymark": "/proc/self/exe", "tick": tick} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name         string
		root         bool
		caps         []procfs.Capability
		capabilities string // the status of that check
		says         string // in its reason
		works        string // the status of attaching
	}{
		{name: "root", root: true, capabilities: "ok", says: "held CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE", works: "ok"},
		{name: "nothing", capabilities: "fail", says: "none is held; missing CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE: attaching needs CAP_BPF and CAP_PERFMON", works: "fail"},
		{name: "PERFMON", caps: []procfs.Capability{procfs.Perfmon}, capabilities: "fail", says: "attaching needs CAP_BPF", works: "fail"},
		{name: "BPF and PERFMON", caps: []procfs.Capability{procfs.BPF, procfs.Perfmon}, capabilities: "warn", says: "held CAP_BPF, CAP_PERFMON; missing CAP_SYS_ADMIN, CAP_SYS_PTRACE", works: "ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &somebody{t, filepath.Join(dir, "waymark"), &syscall.SysProcAttr{}}
			if !test.root {
				s.attr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
			}
			for _, c := range test.caps {
				s.attr.AmbientCaps = append(s.attr.AmbientCaps, uintptr(c))
			}
			checks, status := s.checks("doctor", "--json")
			c := checks["capabilities"]
			if c.Status != test.capabilities || !strings.Contains(c.Reason, test.says) {
				t.Errorf("capabilities: %+v, want %s: %s", c, test.capabilities, test.says)
			}
			if !test.root && !strings.Contains(c.Hint, "setcap") {
				t.Errorf("the hint is %q", c.Hint)
			}
			for _, name := range []string{"stat", "trace"} {
				if checks[name].Status != test.works {
					t.Errorf("%s: %+v, want %s", name, checks[name], test.works)
				}
				_, really := s.run(name, "-d", "10ms", filepath.Join(dir, "tick"))
				if really != status {
					t.Errorf("doctor exits with %d, %s with %d", status, name, really)
				}
			}
			s.settings(checks)
		})
	}
}

// settings compares with what other places say.
func (s *somebody) settings(checks map[string]jsonCheck) {
	s.t.Helper()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		s.t.Fatal(err)
	}
	want := map[string]string{"kernel": "Linux " + unix.ByteSliceToString(u.Release[:])}
	for _, name := range []string{"perf_event_paranoid", "unprivileged_bpf_disabled"} {
		if b, err := os.ReadFile("/proc/sys/kernel/" + name); err == nil {
			want[name] = strings.TrimSpace(string(b)) + ", "
		}
	}
	for name, reason := range want {
		if !strings.HasPrefix(checks[name].Reason, reason) {
			s.t.Errorf("%s: %+v, want %q", name, checks[name], reason)
		}
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); (err == nil) != (checks["BTF"].Status == "ok") {
		s.t.Errorf("BTF: %+v, the file: %v", checks["BTF"], err)
	}
}

// refuse runs a program without bpf(2), as the default profile of containers does.
const refuse = `
import ctypes, os, struct, sys
BPF, PERM, ALLOW = 321, 0x00050001, 0x7fff0000  # x86-64; EPERM
code = b''.join(struct.pack('HBBI', *i) for i in [
    (0x20, 0, 0, 0), (0x15, 0, 1, BPF), (6, 0, 0, PERM), (6, 0, 0, ALLOW)])
data = ctypes.create_string_buffer(code)
prog = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 4, ctypes.addressof(data)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, 2, prog, 0, 0): sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], ['waymark', 'doctor', '--json'])
`

// Every capability is held, and a filter refuses all the same: only attaching tells.
func TestDoctorSeccomp(t *testing.T) {
	peer.Root(t)
	python := peer.Need(t, "python3")[0]
	if runtime.GOARCH != "amd64" {
		t.Skip("the filter is for x86-64")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	waymark := filepath.Join(t.TempDir(), "waymark")
	if err := os.Symlink(self, waymark); err != nil {
		t.Fatal(err)
	}
	s := &somebody{t: t, program: python}
	checks, status := s.checks("-c", refuse, waymark)
	if status != term.StatusError {
		t.Errorf("exit status %d, want %d", status, term.StatusError)
	}
	for name, want := range map[string]string{"capabilities": "ok", "seccomp": "warn", "stat": "fail", "trace": "fail"} {
		if checks[name].Status != want {
			t.Errorf("%s: %+v, want %s", name, checks[name], want)
		}
	}
	if h := checks["stat"].Hint; !strings.Contains(h, "seccomp") {
		t.Errorf("the hint is %q", h)
	}
}

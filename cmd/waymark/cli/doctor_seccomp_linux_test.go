package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

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
	if status != statusError {
		t.Errorf("exit status %d, want %d", status, statusError)
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

package guard

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"golang.org/x/sys/unix"
)

const nobody = 65534

// openTo is a copy of this program that everybody may execute, in a directory that everybody may write to.
func openTo(t *testing.T) string {
	t.Helper()
	peer.Root(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "tracer")
	if err := os.WriteFile(path, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for p := dir; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// setcap gives a file capabilities, as setcap(8) does: capabilities(7), struct vfs_cap_data.
func setcap(t *testing.T, path string, caps ...procfs.Capability) {
	t.Helper()
	var set uint64
	for _, c := range caps {
		set |= 1 << c
	}
	b := binary.LittleEndian.AppendUint32(nil, 0x02000000|1) // revision 2, effective
	for _, word := range []uint32{uint32(set), 0, uint32(set >> 32), 0} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	if err := unix.Setxattr(path, "security.capability", b, 0); err != nil {
		peer.Missing(t, "capabilities of files: "+err.Error())
	}
}

// stranger has nobody execute a program as a guard, and returns our end of its socket.
func stranger(t *testing.T, cmd *exec.Cmd) (ours *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	ours = os.NewFile(uintptr(pair[0]), "ours")
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return ours
}

// Whoever executes a file with capabilities as a guard gets none of them: without no_new_privs there is no
// guard, and with it there are no capabilities.
func TestStrangerGetsNoPrivilege(t *testing.T) {
	path := openTo(t)
	setcap(t, path, procfs.SysPtrace)

	var stderr strings.Builder
	cmd := &exec.Cmd{Path: path, Args: []string{name("1")}, Stderr: &stderr}
	ours := stranger(t, cmd)
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "no_new_privs") {
		t.Errorf("%v, and it says %q", err, &stderr)
	}
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(ours.Fd()), Events: unix.POLLIN}}, 0); n > 0 {
		t.Errorf("it has said something (%v)", err)
	}

	cmd = &exec.Cmd{Path: path, Args: []string{name("1")}}
	ours = stranger(t, cmd)
	if err := startUnprivileged(cmd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(ours, make([]byte, headerSize)); err != nil {
		t.Errorf("with no_new_privs: %v", err)
	}
	if caps := effectiveOf(t, cmd.Process.Pid); caps != "0000000000000000" {
		t.Errorf("a guard that nobody started has capabilities %s", caps)
	}
	cmd.ExtraFiles[0].Close()
	ours.Close()
	_ = cmd.Wait() // with 1 where the end came before it had said all that it says at first
}

// A guard has what its tracer has, wherever that is from.
func TestGuardKeepsPrivileges(t *testing.T) {
	for what, test := range map[string]struct {
		prepare func(path string)
		ambient []uintptr
		want    string // of CapEff
	}{
		"capabilities of the file": {prepare: func(path string) { setcap(t, path, procfs.SysPtrace, procfs.BPF) }, want: "0000008000080000"},
		"ambient capabilities":     {ambient: []uintptr{uintptr(procfs.BPF)}, want: "0000008000000000"},
		"none":                     {want: "0000000000000000"},
		"set-user-ID": {prepare: func(path string) {
			if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
				t.Fatal(err)
			}
		}, want: effectiveOf(t, os.Getpid())},
	} {
		t.Run(what, func(t *testing.T) {
			path := openTo(t)
			if test.prepare != nil {
				test.prepare(path)
			}
			made := filepath.Join(filepath.Dir(path), "made")
			cmd := exec.Command(path)
			cmd.Dir = "/"
			cmd.Env = append(os.Environ(), helperEnv+"="+made)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: test.ambient,
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				cmd.Process.Kill()
				cmd.Wait()
				eventually(t, "everything is taken back", func() bool { return !exists(made) })
			}()
			var pid int
			if _, err := fmt.Fscan(out, &pid); err != nil {
				t.Fatalf("the tracer has no guard: %v", err)
			}
			if got := effectiveOf(t, pid); got != test.want || !exists(made) {
				t.Errorf("the guard's capabilities are %s, want %s; it met a request: %t", got, test.want, exists(made))
			}
		})
	}
}

func effectiveOf(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "CapEff:\t")
	caps, _, _ := strings.Cut(rest, "\n")
	return caps
}

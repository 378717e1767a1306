package tracer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A container is namespaces for processes and mounts, and a root directory on overlayfs. The device
// that maps shows is not that of the file, the process does not have the number that we see, and
// its program can be removed while it runs.
func TestContainer(t *testing.T) {
	path := buildStatic(t)
	dir := t.TempDir()
	for _, name := range []string{"lower", "upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "cp", path, filepath.Join(dir, "lower", "tick"))
	root := filepath.Join(dir, "root")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)
	if err := unix.Mount("overlay", root, "overlay", 0, options); err != nil {
		t.Skipf("mounting overlayfs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(root, unix.MNT_DETACH) })

	cmd := exec.Command("/tick", "25")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: root, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	cmd.Dir = "/"
	p := startCommand(t, cmd)
	for _, replaced := range []bool{false, true} {
		if replaced { // what it runs is on no path any more
			if err := os.Remove(filepath.Join(root, "tick")); err != nil {
				t.Fatal(err)
			}
		}
		target := PIDs(p.PID())
		markers := mustFind(t, target)
		if diff := cmp.Diff(tickNames, fullNames(markers)); diff != "" {
			t.Fatalf("replaced %t: names (-want +got):\n%s", replaced, diff)
		}
		if got := markers[0].File.Path; filepath.Base(got) != "tick" {
			t.Errorf("path is %q", got)
		}
	}
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target, "loop2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run()
	p.Expect("done 25")
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	all := drain(t, tr)
	if len(all) != 25 || all[0].PID != p.PID() {
		t.Errorf("%d events, the first of process %d; want 25 of %d", len(all), all[0].PID, p.PID())
	}
}

// buildStatic builds tick so that it runs without libraries.
func buildStatic(t *testing.T) string {
	return compile(t, "tick.c", "testdata/bare.c", "-static")
}

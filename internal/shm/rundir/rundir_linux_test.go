package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestNames(t *testing.T) {
	p := Process{12, 3456}
	if q, ok := ParseProcess(p.String()); !ok || q != p || p.Socket() != "12-3456.sock" {
		t.Errorf("%v, %v from %s", q, ok, p)
	}
	for _, name := range []string{"", "-", "1", "1-", "-1-2", "01-2", "1-+2", "1-2x", "0-1", "../1-2"} {
		if p, ok := ParseProcess(name); ok {
			t.Errorf("%q is %v", name, p)
		}
	}
	for name, ok := range map[string]bool{
		"a": true, "a-b_c.9": true, "": false, ".": false, "..": false, ".a": false, "a/b": false, "a b": false, "ä": false, "a\x00": false,
		string(make([]byte, 65)): false,
	} {
		if err := CheckSession(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSelf(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	o, err := OwnerOf(os.Getpid())
	if err != nil || o.Process != self || o.UID != os.Geteuid() {
		t.Errorf("%+v and %+v, %v", self, o, err)
	}
}

// dir returns a directory of this test's own.
func dir(t *testing.T) *Dir {
	t.Helper()
	xdg := t.TempDir()
	if err := os.Chmod(xdg, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", xdg)
	d, err := Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A run-time directory that other users own or may enter is not used, and nothing is made in it.
func TestForeign(t *testing.T) {
	foreign, open, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Chmod(foreign, 0o700), os.Chmod(open, 0o755), os.Symlink(open, link)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	} else {
		foreign = "/etc"
	}
	for _, xdg := range []string{foreign, open, link, "/etc"} {
		t.Setenv("XDG_RUNTIME_DIR", xdg)
		d, err := Create()
		if err == nil { // in the next place
			defer d.Close()
			if filepath.Dir(d.Path()) == xdg {
				t.Errorf("%s is used", d.Path())
			}
		}
		if _, err := os.Lstat(filepath.Join(xdg, "waymark")); err == nil {
			t.Errorf("a directory was made in %s", xdg)
			os.Remove(filepath.Join(xdg, "waymark"))
		}
	}
}

// ring makes a file that looks like a ring, of some bytes and age.
func ring(t *testing.T, d *Dir, p Process, name string, size int64, age time.Duration) {
	t.Helper()
	path := filepath.Join(d.Path(), p.String(), name+RingSuffix)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// The oldest rings of dead processes go first, those of living ones stay whatever they take.
func TestClean(t *testing.T) {
	d := dir(t)
	alive := Process{1, 1}
	ring(t, d, alive, "old", 1<<20, time.Hour)
	own, err := d.Own(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	ring(t, d, Process{2, 2}, "oldest", 1<<20, 50*time.Minute)
	ring(t, d, Process{2, 2}, "newer", 1<<20, 10*time.Minute)
	ring(t, d, Process{3, 3}, "middle", 1<<20, 30*time.Minute)
	n, err := d.Clean(2 << 20)
	if n != 1 || err != nil {
		t.Errorf("removed %d rings, %v; want 1", n, err)
	}
	n, err = d.Clean(1 << 20)
	if n != 1 || err != nil {
		t.Errorf("removed %d rings, %v; want 1", n, err)
	}
	processes, err := d.Processes()
	if err != nil || len(processes) != 2 || processes[0] != alive || processes[1] != (Process{2, 2}) {
		t.Errorf("%v, %v are left", processes, err)
	}
	rings, dead, err := d.Rings(Process{2, 2})
	if err != nil || !dead {
		t.Fatal(dead, err)
	}
	defer rings.Close()
	if all, err := rings.List(); err != nil || len(all) != 1 || all[0].Session != "newer" || all[0].Size != 1<<20 {
		t.Errorf("%v, %v", all, err)
	}
	if _, dead, err := d.Rings(alive); dead || err != nil {
		t.Errorf("the living is dead: %v, %v", dead, err)
	}
}

// Files that are no files are refused before they can stop who opens them.
func TestOpen(t *testing.T) {
	d := dir(t)
	if err := errors.Join(unix.Mkfifo(d.Path()+"/fifo", 0o600), os.Symlink("/etc/passwd", d.Path()+"/link"), os.Mkdir(d.Path()+"/dir", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fifo", "link", "dir", "none"} {
		if f, err := d.Open(name, unix.O_RDONLY); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

package link_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// netRaw is a security.capability attribute, version 2, that permits CAP_NET_RAW.
var netRaw = []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		peer.Missing(t, "root, to make files of another user")
	}
}

// copyOf returns a copy of a program in a directory, with an owner, a mode, and capabilities if caps is set.
func copyOf(t *testing.T, dir, name string, data []byte, owner int, mode uint32, caps bool) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, owner, owner); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	if caps {
		if err := unix.Setxattr(path, "security.capability", netRaw, 0); err != nil {
			peer.Missing(t, fmt.Sprintf("a file system with capabilities: %v", err))
		}
	}
	return path
}

// privileges returns the owner of a file, its set-user-ID and set-group-ID bits, and whether it has capabilities.
func privileges(t *testing.T, path string) (owner int, bits uint32, caps bool) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	n, err := unix.Getxattr(path, "security.capability", make([]byte, 64))
	return int(st.Uid), st.Mode & (syscall.S_ISUID | syscall.S_ISGID), err == nil && n > 0
}

// A linked file has the privileges of the old one only if that is a file of the user who links it.
func TestLinkKeepsOwnPrivileges(t *testing.T) {
	needLinux(t)
	needRoot(t)
	data, err := os.ReadFile(gobuild.Build(t, gobuild.Config{}, "testdata/late"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		owner int
		mode  uint32
		caps  bool
		keeps bool
	}{
		{"set-user-ID of root", 0, 0o4755, false, true},
		{"set-group-ID of root", 0, 0o2755, false, true},
		{"capabilities of root", 0, 0o755, true, true},
		{"set-user-ID of another", nobody, 0o4755, false, false},
		{"set-group-ID of another", nobody, 0o2755, false, false},
		{"capabilities of another", nobody, 0o755, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := copyOf(t, t.TempDir(), "program", data, c.owner, c.mode, c.caps)
			report, err := link.File(path, "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			owner, bits, caps := privileges(t, path)
			want := c.mode & (syscall.S_ISUID | syscall.S_ISGID)
			if !c.keeps {
				want = 0
			}
			if owner != c.owner || bits != want || caps != (c.caps && c.keeps) {
				t.Errorf("owner %d, bits %o, capabilities %t", owner, bits, caps)
			}
			warned := slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, "not a file of this user") })
			if warned == c.keeps {
				t.Errorf("warnings %q", report.Warnings)
			}
		})
	}
}

// In a directory of another user, a program is exchanged for a symbolic link to a privileged one of root while root links
// it. However this ends, no file has the privileges of the one and the code of the other.
func TestLinkWhileExchanged(t *testing.T) {
	needLinux(t)
	needRoot(t)
	data, err := os.ReadFile(gobuild.Build(t, gobuild.Config{}, "testdata/late"))
	if err != nil {
		t.Fatal(err)
	}
	root := copyOf(t, t.TempDir(), "privileged", data, 0, 0o4755, true)
	dir := t.TempDir()
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	path, lure := filepath.Join(dir, "program"), filepath.Join(dir, "lure")
	if err := os.Symlink(root, lure); err != nil {
		t.Fatal(err)
	}
	exchanged := 0
	exchange := func() {
		if unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, lure, unix.RENAME_EXCHANGE) == nil {
			exchanged++
		}
	}
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		copyOf(t, dir, "program", data, nobody, 0o755, false)
		var stop atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			for !stop.Load() {
				exchange()
			}
		}()
		link.File(path, "", link.Options{}) // which may find that it was replaced
		stop.Store(true)
		<-done
		for _, name := range []string{path, lure} {
			info, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().IsRegular() {
				if owner, bits, caps := privileges(t, name); bits != 0 || caps {
					t.Fatalf("a file of owner %d in the directory has bits %o, capabilities %t", owner, bits, caps)
				}
			} else if name == path { // exchanged an odd number of times
				exchange()
			}
		}
	}
	t.Logf("exchanged %d times", exchanged)
}

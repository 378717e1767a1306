package procfs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The kernel's answers to queries are those that it prints, for every process, and for files with odd names.
func TestExecutablesAsPrinted(t *testing.T) {
	dir := t.TempDir()
	source, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[int]string{os.Getpid(): ""}
	for _, name := range []string{"plain", "of two words", "two\nlines", "gone", "gone (deleted)"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, program, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		if name == "gone" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		wanted[cmd.Process.Pid] = path
	}
	for pid, program := range wanted {
		var want, got []Mapping
		for settled := false; !settled; { // the dynamic linker may still be at work
			before := printed(t, pid)
			f, err := open(path(pid, "maps"))
			if err != nil {
				t.Fatal(err)
			}
			got, err = queryExecutables(f)
			f.Close()
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this kernel has no PROCMAP_QUERY, which is of Linux 6.11")
			}
			if err != nil {
				t.Fatalf("process %d: %v", pid, err)
			}
			want = printed(t, pid)
			settled = slices.Equal(before, want)
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("process %d:\n queried: %+v\n printed: %+v", pid, got, want)
		}
		found := program == ""
		for _, m := range got {
			if m.Start >= m.End || !m.Executable || m.Inode == 0 {
				t.Errorf("process %d: %+v", pid, m)
			}
			found = found || m.Path == program || m.Path+" (deleted)" == program
		}
		if !found {
			t.Errorf("%q is not among %+v", program, got)
		}
	}
}

// printed returns what the kernel prints of the executable mappings.
func printed(t *testing.T, pid int) []Mapping {
	t.Helper()
	f, err := open(path(pid, "maps"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := readExecutables(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

package elffile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// A debug file is believed only if it belongs to root or to the program's owner, and is looked for
// beside the program, not beside a symbolic link to it. Otherwise a user could put one beside a
// link to another user's program, with its publicly readable build id and other addresses.
func TestDebugFileOfOthers(t *testing.T) {
	peer.Need(t, "gcc", "objcopy", "strip")
	if os.Geteuid() != 0 {
		t.Skip("changes owners, which only root can")
	}
	const root, alice, bob = 0, 1234, 1235
	for name, test := range map[string]struct {
		program, debug int
		mode           os.FileMode
		link           bool // the program is opened by a link that has the debug file beside it
		want           string
	}{
		"root's of root's":          {root, root, 0o644, false, ""},
		"root's of a user's":        {alice, root, 0o644, false, ""},
		"the owner's":               {alice, alice, 0o644, false, ""},
		"a user's of root's":        {root, alice, 0o644, false, "belongs to user 1234"},
		"another user's":            {alice, bob, 0o644, false, "belongs to user 1235"},
		"writable for everybody":    {alice, alice, 0o646, false, "written by everybody"},
		"beside a link":             {root, root, 0o644, true, "no debug file"},
		"a user's, beside his link": {root, alice, 0o644, true, "no debug file"},
	} {
		t.Run(name, func(t *testing.T) {
			old := DebugRoot
			DebugRoot = t.TempDir()
			t.Cleanup(func() { DebugRoot = old })
			dir := t.TempDir()
			run := func(name string, args ...string) {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			run("gcc", "-g", "-o", "p", "p.c")
			run("objcopy", "--only-keep-debug", "p", "p.debug")
			run("objcopy", "--strip-all", "--add-gnu-debuglink=p.debug", "p")
			path, debug := filepath.Join(dir, "p"), filepath.Join(dir, "p.debug")
			if err := errors.Join(os.Chown(path, test.program, 0), os.Chmod(debug, test.mode), os.Chown(debug, test.debug, 0)); err != nil {
				t.Fatal(err)
			}
			if test.link {
				mine := t.TempDir()
				if err := errors.Join(os.Symlink(path, filepath.Join(mine, "p")), os.Rename(debug, filepath.Join(mine, "p.debug"))); err != nil {
					t.Fatal(err)
				}
				path = filepath.Join(mine, "p")
			}
			im, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			found, err := im.Debug(func(*Image) bool { return true })
			if test.want == "" {
				if err != nil || found.Path() != debug {
					t.Errorf("got %v, %v", found, err)
				}
				return
			}
			if !errors.Is(err, ErrNoDebug) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

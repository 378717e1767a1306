package readers_test

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(answersEnv); dir != "" {
		if err := impersonate(dir); err != nil {
			fmt.Println(err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// kept has the inputs that a command once failed on: testdata/found/INPUT/FILE/HASH stands for FILE of INPUT, with
// "+" for "/".
const kept = "testdata/found"

// Whatever its input is, a command ends with a result or an error, soon and without much memory. A seed damages one input
// of each kind. Each run has the same five seeds; WAYMARK_SEEDS=FROM..TO has others, and scripts/trust runs many.
func TestReaders(t *testing.T) {
	peer.Need(t, "gcc", "objcopy")
	first, last := seeds(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := os.Chmod(os.Getenv("XDG_RUNTIME_DIR"), 0o700); err != nil {
		t.Fatal(err)
	}
	waymark := filepath.Join(t.TempDir(), "waymark")
	command(t, "go", "build", "-o", waymark, "../../../cmd/waymark")
	all := inputs(t, waymark)
	ok := t.Run("kept", func(t *testing.T) {
		for i := range all {
			all[i].try(t, "", nil)
			all[i].retry(t)
		}
	})
	for seed := first; ok && seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			runs := 0
			for i := range all {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				file := all[i].files[r.IntN(len(all[i].files))]
				data, err := os.ReadFile(filepath.Join(all[i].dir, file))
				if err != nil {
					t.Fatal(err)
				}
				runs += all[i].try(t, file, mutated(r, data))
			}
			t.Logf("totals: %d inputs, %d commands", len(all), runs)
		})
	}
}

// seeds returns the first and the last seed.
func seeds(t *testing.T) (first, last uint64) {
	t.Helper()
	last = 4
	if text := os.Getenv("WAYMARK_SEEDS"); text != "" {
		if n, err := fmt.Sscanf(text, "%d..%d", &first, &last); n < 2 {
			t.Fatalf("WAYMARK_SEEDS=%s: %v", text, err)
		}
	}
	return first, last
}

// retry tries the inputs that were kept.
func (i *input) retry(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(kept, i.name, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		i.try(t, strings.ReplaceAll(filepath.Base(filepath.Dir(path)), "+", "/"), data)
	}
}

// try runs the commands on a copy of an input in which a file has other data; "" changes nothing. It returns how many it
// ran.
func (i *input) try(t *testing.T, file string, data []byte) (runs int) {
	t.Helper()
	work, err := os.MkdirTemp("", "waymark-readers-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	dir := filepath.Join(work, "in")
	if err := os.CopyFS(dir, os.DirFS(i.dir)); err != nil {
		t.Fatal(err)
	}
	if file != "" {
		write(t, filepath.Join(dir, file), data)
	}
	pid := ""
	if strings.Contains(fmt.Sprint(i.commands), "PID") {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), answersEnv+"="+dir)
		p := talk.Start(t, cmd)
		defer func() {
			_ = p.Cmd.Process.Kill()
			_ = p.Cmd.Wait()
		}()
		p.Expect("ready")
		pid = fmt.Sprint(p.PID())
	}
	for n, c := range i.commands {
		argv := make([]string, len(c))
		for j, word := range c {
			word = strings.Replace(word, "DIR", dir, 1)
			argv[j] = strings.Replace(strings.Replace(word, "OUT", filepath.Join(work, fmt.Sprint("out", n)), 1), "PID", pid, 1)
		}
		if wrong := verdict(argv); wrong != "" {
			t.Errorf("%s, %s: %q: %s\n%s", i.name, cmp.Or(file, "as it was made"), c[1:], wrong, i.keep(file, data))
			return n + 1
		}
		if file == "" && !t.Failed() {
			i.check(t, argv)
		}
	}
	return len(i.commands)
}

// check fails unless a command accepts the input as it was made, or refuses it as it should: link takes Go programs.
func (i *input) check(t *testing.T, argv []string) {
	t.Helper()
	if i.name == "c-program" && argv[1] == "link" {
		return
	}
	argv = append([]string{}, argv...)
	for j := range argv {
		if argv[j-min(j, 1)] == "-o" {
			argv[j] += ".again"
		}
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s as it was made: %v: %v\n%s", i.name, argv[1:], err, out)
	}
}

// keep saves an input for retry, and returns where.
func (i *input) keep(file string, data []byte) string {
	if file == "" {
		return ""
	}
	dir := filepath.Join(cmp.Or(os.Getenv("WAYMARK_READERS_KEEP"), kept), i.name, strings.ReplaceAll(file, "/", "+"))
	path := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256(data))[:12])
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(path, data, 0o666)); err != nil {
		return "not kept: " + err.Error()
	}
	return "kept as " + path
}

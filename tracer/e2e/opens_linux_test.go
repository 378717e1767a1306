package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// A command opens the file that it reads once, whatever it reads of it: notes, symbols, the sections of
// waymark link and of simple markers, debugging information. The eBPF library opens the file of its probes
// once more, by the descriptor that it is given.
func TestFileIsOpenedOnce(t *testing.T) {
	peer.Need(t, "gcc", "strace")
	dir := t.TempDir()
	source, path := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	include, err := filepath.Abs("../../include")
	if err != nil {
		t.Fatal(err)
	}
	text := `#include <sys/sdt.h>
#include <waymark/simple.h>
static int hidden;
int main(int argc, char **argv) {
	DTRACE_PROBE2(p, note, argc, hidden);
	WAYMARK_SIMPLE("p:simple", "argc %d", argc);
	hidden += argc;
	return hidden;
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-I", include, "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"list"}, {"list", "-v"}, {"list", "--json"}, {"stat", "-d", "1s"}} {
		if args[0] == "stat" {
			peer.Root(t)
		}
		log := filepath.Join(dir, "log")
		cmd := exec.Command("strace", append([]string{"-f", "-e", "trace=open,openat,openat2", "-o", log, waymark(t)}, append(args, path)...)...)
		out, err := cmd.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) || args[0] == "list" && !bytes.Contains(out, []byte("p:simple")) && !bytes.Contains(out, []byte(`"simple"`)) {
			t.Fatalf("waymark %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		opens := regexp.MustCompile(`(?m)^.*"`+regexp.QuoteMeta(path)+`".*$`).FindAll(calls, -1)
		again := regexp.MustCompile(`(?m)^.*"/proc/self/fd/\d+".*$`).FindAll(calls, -1)
		if len(opens) != 1 || args[0] == "list" && len(again) > 0 || len(again) > 1 {
			t.Errorf("waymark %s opens its file %d times by name and %d times by descriptor:\n%s\n%s",
				strings.Join(args, " "), len(opens), len(again), bytes.Join(opens, []byte("\n")), bytes.Join(again, []byte("\n")))
		}
	}
}

package readers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// input is what some commands read.
type input struct {
	name     string
	dir      string     // of its files
	files    []string   // those that are damaged, one at a time
	commands [][]string // DIR is a copy of dir, OUT a path of nothing, PID a process that stands for an agent
}

const cSource = `#include <sys/sdt.h>
#include "waymark/simple.h"
__extension__ unsigned short p_guarded_semaphore __attribute__((section(".probes")));
struct s { int n; char tag[8]; struct s *next; double d; enum { RED, GREEN } color; };
static inline int in(int n, struct s *p) { int m = n * 2; WAYMARK_SIMPLE("f:in", "%d %d", m, p->n); return m + p->n; }
__attribute__((noinline)) int f(int n, struct s *p) { int sum = 0; for (int i = 0; i < n; i++) { WAYMARK_SIMPLE("f:loop", "%d %s", i, p->tag, sum);
	STAP_PROBE3(p, loop, i, p->tag, sum); sum += in(i, p); }
	switch (n) { case 1: sum = 3; break; case 2: sum = 5; break; case 3: sum = 9; } return sum; }
int main(int argc, char **argv) { struct s s = {argc, "x", 0, 1.5, GREEN}; STAP_PROBE2(p, guarded, argv[0], s.d); return f(s.n, &s); }
`

// inputs makes one of everything that the commands read.
func inputs(t *testing.T, waymark string) []input {
	t.Helper()
	gcc := peer.Need(t, "gcc", "objcopy")
	root := t.TempDir()
	include, err := filepath.Abs("../../../include")
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string, files ...string) input {
		i := input{name: name, dir: filepath.Join(root, name), files: files}
		if err := os.Mkdir(i.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return i
	}
	build := func(i input, args ...string) {
		t.Helper()
		write(t, filepath.Join(i.dir, "f.c"), []byte(cSource))
		cmd := exec.Command(gcc[0], append([]string{"-g", "-O1", "-w", "-I" + include, "f.c"}, args...)...)
		cmd.Dir = i.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	list := [][]string{{waymark, "list", "-v", "DIR/f"}, {waymark, "list", "--json", "DIR/f"}}

	program := in("c-program", "f")
	build(program, "-o", "f")
	program.commands = append(list, []string{waymark, "doctor", "DIR/f"}, []string{waymark, "link", "-o", "OUT", "DIR/f"})

	compressed := in("compressed", "f")
	build(compressed, "-gdwarf-4", "-gz", "-o", "f")
	compressed.commands = list

	object := in("object", "f")
	build(object, "-c", "-o", "f")
	object.commands = list

	separate := in("separate", "f.debug", "f")
	build(separate, "-o", "f")
	for _, args := range [][]string{{"--only-keep-debug", "f", "f.debug"}, {"--strip-all", "f"}, {"--add-gnu-debuglink=f.debug", "f"}} {
		cmd := exec.Command(gcc[1], args...)
		cmd.Dir = separate.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	separate.commands = list

	unlinked := in("go-program", "f")
	command(t, "go", "build", "-o", filepath.Join(unlinked.dir, "f"), "../../../examples/minimal")
	unlinked.commands = [][]string{{waymark, "link", "-v", "-o", "OUT", "DIR/f"}}
	linked := in("linked", "f")
	command(t, waymark, "link", "-o", filepath.Join(linked.dir, "f"), filepath.Join(unlinked.dir, "f"))
	linked.commands = append([][]string{{waymark, "link", "-o", "OUT", "DIR/f"}}, list...)

	answers := in("agent", "answers", "answers", "ring")
	agentInput(t, answers.dir)
	answers.commands = [][]string{
		{waymark, "list", "-p", "PID"},
		{waymark, "record", "-p", "PID", "--engine", "agent", "-d", "100ms", "-o", "OUT"},
		{waymark, "trace", "-p", "PID", "--engine", "agent", "-d", "100ms", "--json"},
		{waymark, "snapshot", "-p", "PID", "-o", "OUT", "flight"},
		{waymark, "key", "list", "-p", "PID"},
	}

	ring := in("ring", "ring")
	command(t, "cp", filepath.Join(answers.dir, "ring"), ring.dir)
	ring.commands = [][]string{{waymark, "recover", "-o", "OUT", "DIR/ring"}}

	own := in("trace")
	command(t, waymark, "recover", "-o", filepath.Join(own.dir, "trace"), filepath.Join(ring.dir, "ring"))
	barectf := in("barectf")
	command(t, "cp", "-r", "../../../ctf/testdata/barectf/little", filepath.Join(barectf.dir, "trace"))
	for _, i := range []*input{&own, &barectf} {
		all, err := filepath.Glob(filepath.Join(i.dir, "trace", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range all {
			if name := filepath.Base(path); name == "metadata" || name != "log" && len(i.files) < 4 {
				i.files = append(i.files, "trace/"+name, "trace/metadata")
			}
		}
		i.commands = [][]string{{waymark, "report", "DIR/trace"}, {waymark, "report", "--json", "DIR/trace"}, {waymark, "report", "--stat", "DIR/trace"}}
	}
	return []input{program, compressed, object, separate, unlinked, linked, answers, ring, own, barectf}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

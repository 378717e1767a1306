package debuginfo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// The frame's address is at each row of the unwind tables, and ahead of the next, what readelf says.
func TestCFA(t *testing.T) {
	readelf := peer.Need(t, "readelf")[0]
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	text := `#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
__attribute__((noinline)) int sorted(int n) { int a[n + 1]; for (int i = 0; i < n; i++) a[i] = -i; qsort(a, n, sizeof *a, compare); return a[0]; }
int main(int argc, char **argv) { printf("%d %s\n", sorted(argc), argv[0]); return 0; }
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, flags := range []string{"-O0", "-O2", "-O2 -fno-omit-frame-pointer"} {
		out := filepath.Join(dir, "c"+strconv.Itoa(len(files)))
		run(t, peer.Need(t, "gcc")[0], append(strings.Fields(flags), "-g", "-o", out, source)...)
		files = append(files, out)
	}
	program := filepath.Join(dir, "go")
	run(t, "go", "build", "-o", program, "../../../../examples/scsi_go")
	for _, path := range append(files, program) {
		rows := interpreted(t, readelf, path)
		f, r := openFile(t, path)
		checked := 0
		for i, row := range rows {
			if row.cfa == "exp" { // an expression, which is refused
				continue
			}
			last := row.address
			if i+1 < len(rows) && rows[i+1].function == row.function {
				last = rows[i+1].address - 1
			}
			if last < row.address {
				continue // the next row is of the same address
			}
			for _, pc := range []uint64{row.address, last} {
				c, err := f.CFA(pc)
				if err != nil {
					t.Fatalf("%s: %#x: %v", path, pc, err)
				}

				if got := fmt.Sprintf("%s%+d", registers[c.Register], c.Offset); got != row.cfa {
					t.Fatalf("%s: %#x: frame at %s, readelf says %s", path, pc, got, row.cfa)
				}
				checked++
			}
		}
		if checked < 10 {
			t.Errorf("%s: %d addresses looked at", path, checked)
		}
		f.Close()
		r.Close()
	}
}

var registers = map[uint64]string{6: "rbp", 7: "rsp", 10: "r10"}

type unwindRow struct {
	function int
	address  uint64
	cfa      string
}

// interpreted are the rows of the tables as readelf computes them.
func interpreted(t *testing.T, readelf, path string) (rows []unwindRow) {
	out, err := exec.Command(readelf, "--debug-dump=frames-interp", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	function, functions, end := false, 0, uint64(0)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		switch {
		case slices.Contains(words, "CIE"):
			function = false
		case slices.Contains(words, "FDE"):
			function = true
			_, to, _ := strings.Cut(line, "..")
			end, _ = strconv.ParseUint(strings.TrimSpace(to), 16, 64)
			functions++
		case function && len(words) >= 2 && (words[1] == "exp" || strings.ContainsAny(words[1], "+-")):
			address, err := strconv.ParseUint(words[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if address < end { // Go has a row behind the last instruction
				rows = append(rows, unwindRow{functions, address, words[1]})
			}
		}
	}
	return rows
}

func openFile(t *testing.T, path string) (*File, *os.File) {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(r, path)
	if err != nil {
		t.Fatal(err)
	}
	return f, r
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

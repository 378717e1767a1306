package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Large programs of other people's, with markers at the entry of functions in their hot packages, get the same
// results from their own tests when their sites are optimized and toggled all the while.
func TestRealProgramsOptimized(t *testing.T) {
	t.Parallel() // it compiles, and attaches nothing
	if testing.Short() {
		t.Skip("downloads modules and runs their tests")
	}
	for _, p := range []struct {
		module   string
		packages []string // the first one's tests run
		count    string   // how often: for a million hits
	}{
		{"github.com/klauspost/compress@v1.18.0", []string{"zstd", "huff0", "fse"}, "1"},
		{"github.com/dop251/goja@v0.0.0-20250630131328-58d95d85e994", []string{".", "parser", "unistring"}, "4"},
	} {
		t.Run(strings.Split(p.module, "@")[0], func(t *testing.T) {
			m := instrument(t, p.module, p.packages...)
			generic, optimized := filepath.Join(m.dir, "generic.test"), filepath.Join(m.dir, "optimized.test")
			m.goCommand(t, "test", "-vet=off", "-c", "-o", generic, "./"+p.packages[0])
			report, err := link.File(generic, optimized, link.Options{Optimize: true})
			if err != nil {
				t.Fatal(err)
			}
			sites, why := 0, map[string]int{}
			for _, s := range report.Sites {
				if s.Optimized {
					sites++
				} else {
					why[s.Why]++
				}
			}
			t.Logf("%d markers, %d of %d sites optimized, others: %v", m.markers, sites, len(report.Sites), why)
			if m.markers < 50 || sites < m.markers/2 {
				t.Error("too few")
			}
			checkDisassembly(t, generic, optimized, report.Sites)
			dir := filepath.Join(m.dir, p.packages[0])
			toggled := filepath.Join(t.TempDir(), "hits")
			want := results(t, dir, generic, p.count, "")
			got := results(t, dir, optimized, p.count, toggled)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("results differ (-generic +optimized):\n%s", d)
			}
			hits, err := os.ReadFile(toggled)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, line := range strings.Fields(string(hits)) {
				h, err := strconv.Atoi(line)
				if err != nil {
					t.Fatal(err)
				}
				n += h
			}
			t.Logf("%d results, %d hits while armed", len(got), n)
			if n < million || len(got) < 50 {
				t.Error("too few")
			}
		})
	}
}

// checkDisassembly holds what link says of sites against objdump: an optimized one has a NOP, a jump, a TEST
// or a MOV of an immediate where it read its word, after a prefix if it has one, and no armed word is read anywhere but at sites that link says are
// generic. In the generic program every site reads one.
func checkDisassembly(t *testing.T, generic, optimized string, sites []link.SiteReport) {
	t.Helper()
	words := make(map[uint64]string)
	for _, m := range readSchema(t, optimized).Markers {
		words[m.Counter] = m.Provider + ":" + m.Name
	}
	at, reads := disassemble(t, optimized, words)
	_, before := disassemble(t, generic, words)
	off := regexp.MustCompile(`^(nop|xchg +%ax,%ax|data16|jmp +[0-9a-f]+ |test +\$0x[0-9a-f]+,%(al|eax)$|mov +\$0x[0-9a-f]+,%[re][a-z0-9]+$)`)
	for _, s := range sites {
		text, ok := at[s.Address]
		if !ok {
			text = strings.TrimPrefix(at[s.Address-1], "cs ")
		}
		if s.Optimized && !off.MatchString(text) {
			t.Errorf("%s at %#x is %q", s.Name, s.Address, text)
		}
		if before[s.Address] == "" {
			t.Errorf("%s at %#x reads no word in the generic program", s.Name, s.Address)
		}
		if !s.Optimized {
			delete(reads, s.Address)
		}
	}
	for n, name := range reads {
		t.Errorf("%s is read at %#x: %q, which link does not say", name, n, at[n])
	}
}

// disassemble returns the instructions of a program by address, and which of them read one of these words.
func disassemble(t *testing.T, path string, words map[uint64]string) (at, reads map[uint64]string) {
	t.Helper()
	peer.Need(t, "objdump")
	at, reads = make(map[uint64]string), make(map[uint64]string)
	refers := regexp.MustCompile(`#\s*([0-9a-f]+)\s`)
	for line := range strings.Lines(run(t, "objdump", "-d", "--no-show-raw-insn", path)) {
		addr, text, ok := strings.Cut(strings.TrimSpace(line), ":")
		n, err := strconv.ParseUint(addr, 16, 64)
		if !ok || err != nil {
			continue
		}
		text = strings.TrimSpace(text)
		at[n] = text
		if m := refers.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, "lea") {
			to, _ := strconv.ParseUint(m[1], 16, 64)
			if name := words[to]; name != "" {
				reads[n] = name
			}
		}
	}
	return at, reads
}

func readSchema(t *testing.T, path string) *schema.Document {
	t.Helper()
	im, err := elffile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	data, err := im.Named(schema.Section, schema.MaxSize)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := schema.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var result = regexp.MustCompile(`(?m)^\s*--- (\w+: \S+)`)

// results runs the tests of a package and returns what became of each.
func results(t *testing.T, dir, path, count, toggle string) (all []string) {
	t.Helper()
	cmd := exec.Command(path, "-test.short", "-test.v", "-test.count", count)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WAYMARK_TOGGLE="+toggle)
	out, err := cmd.CombinedOutput()
	for _, m := range result.FindAllSubmatch(out, -1) {
		all = append(all, string(m[1]))
	}
	slices.Sort(all)
	if err != nil && len(all) == 0 || strings.Contains(string(out), "\npanic: ") || strings.Contains(string(out), "fatal error: ") {
		t.Fatalf("%s: %v\n%.4000s", path, err, out)
	}
	return all
}

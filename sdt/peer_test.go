package sdt

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const postgres = "/usr/lib/postgresql/15/bin/postgres"

func run(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(peer.Need(t, program)[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

var (
	readelfNote = regexp.MustCompile(`(?s)Provider:\s+(\S+)\s+Name:\s+(\S+)\s+Location:\s+(\w+),\s+Base:\s+(\w+),\s+Semaphore:\s+(\w+)\s+Arguments:[ \t]*([^\n]*)`)
	readelfID   = regexp.MustCompile(`Build ID:\s*(\w+)`)
)

// readelf returns the notes as binutils reads them.
func readelf(t testing.TB, path string) (notes []Note, buildID string) {
	t.Helper()
	out := run(t, "", "readelf", "-n", "-W", path)
	addr := func(s string) Addr {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Addr(n)
	}
	for _, m := range readelfNote.FindAllStringSubmatch(out, -1) {
		notes = append(notes, Note{m[1], m[2], addr(m[3]), addr(m[4]), addr(m[5]), strings.TrimSpace(m[6])})
	}
	if m := readelfID.FindStringSubmatch(out); m != nil {
		buildID = m[1]
	}
	return notes, buildID
}

// compareReadelf checks every note of a file against readelf, and its places against the section
// headers, as perf computes them: an independent way from the program headers we use.
func compareReadelf(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Problems) > 0 {
		t.Errorf("%s: %v", path, f.Problems)
	}
	want, buildID := readelf(t, path)
	var got []Note
	for _, s := range f.Sites {
		got = append(got, s.Note)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s: got %d notes, readelf %d\n got %+v\nwant %+v", path, len(got), len(want), got, want)
	}
	if f.BuildID != buildID {
		t.Errorf("%s: got build id %q, want %q", path, f.BuildID, buildID)
	}

	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, probes := e.Section(".text"), e.Section(".probes")
	for _, s := range f.Sites {
		if uint64(s.Location) >= text.Addr && uint64(s.Location) < text.Addr+text.Size {
			if want := Offset(uint64(s.Location) - text.Addr + text.Offset); s.Offset != want {
				t.Errorf("%s: %s at offset %#x, want %#x", path, s.Name, s.Offset, want)
			}
		}
		if data[s.Offset] != 0x90 {
			t.Errorf("%s: %s at offset %#x is on %#x, not on a nop", path, s.Name, s.Offset, data[s.Offset])
		}
		var counter Offset
		if s.Semaphore != 0 {
			counter = Offset(uint64(s.Semaphore) - probes.Addr + probes.Offset)
		}
		if s.CounterOffset != counter {
			t.Errorf("%s: counter of %s at offset %#x, want %#x", path, s.Name, s.CounterOffset, counter)
		}
		for _, o := range s.Operands {
			checkOperand(t, o)
		}
	}
	return f
}

func needFile(t testing.TB, pattern string) string {
	t.Helper()
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[0]
	}
	return peer.Need(t, pattern)[0]
}

func TestPostgres(t *testing.T) {
	path := needFile(t, postgres)
	f := compareReadelf(t, path)
	if len(f.Sites) != 71 {
		t.Errorf("%d sites, want 71", len(f.Sites))
	}
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	dynamic, err := e.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	address := map[string]int64{}
	for _, s := range dynamic {
		address[s.Name] = int64(s.Value)
	}
	symbols := 0
	for _, s := range f.Sites {
		if s.CounterOffset == 0 {
			t.Errorf("%s has no counter", s.Name)
		}
		for _, o := range s.Operands {
			if o.Kind == Unreadable {
				t.Errorf("%s: %v", s.Name, o.Err)
			}
			if o.Symbol == "" {
				continue
			}
			symbols++
			head := strings.TrimSuffix(strings.TrimPrefix(o.Text, "-4@"), o.Symbol+"(%rip)")
			plus, _ := strconv.ParseInt(strings.TrimSuffix(head, "+"), 10, 64)
			if got, want := int64(s.Address)+o.Disp, address[o.Symbol]+plus; o.Base != PC || got != want {
				t.Errorf("%s: %s at %#x, want %#x", s.Name, o.Text, got, want)
			}
		}
	}
	if symbols != 6 {
		t.Errorf("%d operands name symbols, want 6", symbols)
	}
}

func TestLibstdcxx(t *testing.T) {
	path := needFile(t, "/usr/lib/*/libstdc++.so.6")
	if f := compareReadelf(t, path); len(f.Sites) != 3 {
		t.Errorf("%d sites, want 3", len(f.Sites))
	}
}

func TestSmallFiles(t *testing.T) {
	for _, name := range []string{"exec64", "exec32", "stripped64"} {
		if f := compareReadelf(t, "testdata/elf/"+name); len(f.Sites) != 2 {
			t.Errorf("%s: %d sites", name, len(f.Sites))
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, path := range map[string]string{"postgres": postgres, "without": "/bin/sh"} {
		b.Run(name, func(b *testing.B) {
			path := needFile(b, path)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

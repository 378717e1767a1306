package e2e

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// packed is what the corpus is made into, and where its debugging information is.
type packed string

const (
	executable packed = "executable"
	inPIE      packed = "PIE"
	shared     packed = "shared object"
	zlib       packed = "compressed by zlib"
	zlibOld    packed = "compressed as .zdebug"
	zstd       packed = "compressed by zstd"
	byID       packed = "separate by build id"
	byLink     packed = "separate by debug link"
)

// program is a build of the corpus: what has the markers, and what runs them.
type program struct{ file, run string }

// loader runs the corpus that is a shared object.
const loader = "int corpus_main(void);\nint main(void) { return corpus_main(); }\n"

func (o *oracle) build(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	do := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s %v: %v\n%s", o, name, args, err, out)
		}
	}
	file := filepath.Join(dir, "corpus")
	args := []string{"-w", o.level, o.dwarf, "-I../../include"}
	switch o.form {
	case shared:
		file = filepath.Join(dir, "libcorpus.so")
		do(o.compiler, append(args, "-fPIC", "-shared", "-Dmain=corpus_main", "-o", file, o.source)...)
		source, run := filepath.Join(dir, "loader"+filepath.Ext(o.source)), filepath.Join(dir, "loader")
		if err := os.WriteFile(source, []byte(loader), 0o600); err != nil {
			t.Fatal(err)
		}
		do(o.compiler, "-g", "-o", run, source, file, "-Wl,-rpath,"+dir)
		return program{file, run}
	case executable:
		args = append(args, "-fno-pie", "-no-pie")
	default:
		args = append(args, "-fPIE", "-pie")
	}
	id := "-Wl,--build-id"
	if o.form == byLink {
		id = "-Wl,--build-id=none"
	}
	do(o.compiler, append(args, id, "-o", file, o.source)...)
	debug := file + ".debug"
	switch o.form {
	case zlib:
		do("objcopy", "--compress-debug-sections=zlib", file)
	case zlibOld:
		do("objcopy", "--compress-debug-sections=zlib-gnu", file)
	case zstd:
		do("objcopy", "--compress-debug-sections=zstd", file)
	case byID:
		n := buildIDOf(t, file)
		debug = filepath.Join(elffile.DebugRoot, ".build-id", n[:2], n[2:]+".debug")
		if err := os.MkdirAll(filepath.Dir(debug), 0o700); err != nil {
			t.Fatal(err)
		}
		do("objcopy", "--only-keep-debug", file, debug)
		do("strip", file)
	case byLink:
		do("objcopy", "--only-keep-debug", file, debug)
		do("strip", file)
		do("objcopy", "--add-gnu-debuglink="+debug, file)
	}
	checkForm(t, o.form, file)
	return program{file, file}
}

// checkForm makes sure that a file is what it is meant to be: objcopy leaves small sections alone.
func checkForm(t *testing.T, is packed, file string) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	own, old := f.Section(".debug_info"), f.Section(".zdebug_info")
	ok := own != nil && own.Flags&elf.SHF_COMPRESSED == 0
	switch is {
	case zlib, zstd:
		var kind [4]byte // Chdr.ch_type of the section's first bytes
		if raw, err := os.ReadFile(file); err == nil && own != nil {
			copy(kind[:], raw[own.Offset:])
		}
		ok = own != nil && own.Flags&elf.SHF_COMPRESSED != 0 && kind == map[packed][4]byte{zlib: {1}, zstd: {2}}[is]
	case zlibOld:
		ok = own == nil && old != nil
	case byID, byLink:
		ok = own == nil && old == nil && (f.Section(".gnu_debuglink") != nil) == (is == byLink)
	}
	if !ok {
		t.Fatalf("%s is not %s", file, is)
	}
}

func buildIDOf(t *testing.T, file string) string {
	t.Helper()
	out, err := exec.Command("readelf", "-n", file).Output()
	_, id, found := strings.Cut(string(out), "Build ID: ")
	if id, _, _ = strings.Cut(id, "\n"); err != nil || !found || len(id) < 8 {
		t.Fatalf("%s has no build id: %v\n%s", file, err, out)
	}
	return id
}

// What holds of executables holds of shared objects, and wherever the debugging information is.
func TestSimpleValuesOfForms(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "gdb", "gcc", "g++", "clang", "clang++", "objcopy", "strip", "readelf")
	old := elffile.DebugRoot
	elffile.DebugRoot = t.TempDir()
	t.Cleanup(func() { elffile.DebugRoot = old })
	sum := &tally{permitted: map[string]int{}}
	for n, c := range []struct{ compiler, source string }{
		{"gcc", "testdata/simple/corpus.c"}, {"clang", "testdata/simple/corpus.c"},
		{"g++", "testdata/simple/more.cc"}, {"clang++", "testdata/simple/more.cc"},
	} {
		plain := oracle{compiler: c.compiler, source: c.source, level: "-O0", dwarf: "-gdwarf-5", form: executable}
		truth := plain.truth(t)
		for i, f := range []packed{shared, zlib, zlibOld, zstd, byID, byLink} {
			dwarfs := []string{[]string{"-gdwarf-4", "-gdwarf-5"}[(n/2+i)%2]}
			if f == shared {
				dwarfs = []string{"-gdwarf-4", "-gdwarf-5"}
			}
			for _, dwarf := range dwarfs {
				o := oracle{c.compiler, c.source, "-O2", dwarf, f, truth, sum}
				have, right := sum.have, sum.right
				if o.compare(t); sum.have == have || sum.right == right {
					t.Errorf("%v: waymark has %d values, gdb %d right ones", &o, sum.have-have, sum.right-right)
				}
			}
		}
		o := oracle{c.compiler, c.source, "-O0", "-gdwarf-5", shared, truth, &tally{permitted: map[string]int{}}}
		o.compare(t)
		missing := 0
		if c.source == "testdata/simple/corpus.c" {
			missing = 3 // what is local to a thread, three passes
		}
		if o.sum.all == 0 || o.sum.all-o.sum.have != missing {
			t.Errorf("%v: %d of %d values, want all but %d", &o, o.sum.have, o.sum.all, missing)
		}
	}
	t.Logf("-O2: %d of %d values; gdb has %d right ones and %d wrong ones; %d markers have no place; missing, permitted: %v",
		sum.have, sum.all, sum.right, sum.wrong, sum.refused, sum.permitted)
	if 10*sum.have < 7*sum.all {
		t.Errorf("-O2: %d of %d values, want seven tenths", sum.have, sum.all)
	}
}

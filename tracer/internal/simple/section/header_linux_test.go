package section

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

const shapes = "testdata/shapes.c"

// compilers are command lines; the same file is C and C++.
var compilers = [][]string{{"gcc", "-Wno-clobbered"}, {"clang"}, {"g++", "-Wno-clobbered", "-x", "c++"}, {"clang++", "-x", "c++"}}

// compile runs a compiler on a file with the header, and returns what it said.
func compile(t *testing.T, compiler []string, out string, args ...string) (string, error) {
	t.Helper()
	peer.Need(t, compiler[0])
	line := append(compiler[1:len(compiler):len(compiler)], "-Wall", "-Wextra", "-I../../../../include", "-o", out)
	text, err := exec.Command(compiler[0], append(line, args...)...).CombinedOutput()
	return string(text), err
}

// barrier replaces the record by nothing but a barrier of the compiler.
const barrier = `#include "waymark/simple.h"
#undef WAYMARK_SIMPLE_RECORD_
#define WAYMARK_SIMPLE_RECORD_(...) __asm__ __volatile__("" ::: "memory")
`

// The macro adds no instruction: the code is that of a barrier in its place, at every level of
// every compiler. Without warnings, too.
func TestHeaderAddsNoInstruction(t *testing.T) {
	dir := t.TempDir()
	instead := filepath.Join(dir, "barrier.h")
	if err := os.WriteFile(instead, []byte(barrier), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range compilers {
		t.Run(c[0], func(t *testing.T) {
			for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-fPIE"} {
				with := disassemble(t, c, dir, level)
				if d := cmp.Diff(disassemble(t, c, dir, level, "-include", instead), with); d != "" {
					t.Errorf("%s: code of a barrier (-) and of the marker (+)\n%s", level, d)
				}
			}
		})
	}
}

func disassemble(t *testing.T, compiler []string, dir string, flags ...string) string {
	t.Helper()
	object := filepath.Join(dir, "shapes.o")
	if text, err := compile(t, compiler, object, append(flags, "-O2", flags[0], "-c", shapes)...); err != nil || text != "" {
		t.Fatalf("%v %v: %v\n%s", compiler, flags, err, text)
	}
	out, err := exec.Command("objdump", "-d", "-w", object).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// What the header writes is what was marked, in executables and shared objects of every
// compiler, and readelf finds the section to be one that is not loaded.
func TestHeaderRecords(t *testing.T) {
	text := Record{"shape:text", shapes, 22, `Command %p "len" {a|b} $x 100%% %d` + "\tk %ld\n", "(void *)cmd, cmd->len, k"}
	quoted := Record{"shape:members", shapes, 94, "len %d next %p name %c", `c.len, (void *)p->next->next, p->inner.name["a,b"[0] - 'a']`}
	for _, c := range compilers {
		for _, flags := range [][]string{{"-O0"}, {"-O3", "-fPIE", "-pie"}, {"-O2", "-fPIC", "-shared"}, {"-O2", "-flto", "-s"}} {
			if c[0][0] == 'c' && flags[1%len(flags)] == "-flto" {
				continue // clang's needs a linker that knows it
			}
			t.Run(c[0]+strings.Join(flags, ""), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "shapes")
				if text, err := compile(t, c, file, append(flags, shapes)...); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				records, problems, err := readFile(file)
				if err != nil || problems != nil {
					t.Fatal(err, problems)
				}
				names := map[string]Record{}
				for _, r := range records {
					names[r.Name] = r
				}
				// The linker's optimizer removes the markers that main never comes by.
				if len(names) != 15 && (flags[1%len(flags)] != "-flto" || len(names) < 10) || names["shape:text"] != text || names["shape:members"] != quoted {
					t.Errorf("%d names, %q, %q", len(names), names["shape:text"], names["shape:members"])
				}
				out, err := exec.Command("readelf", "-SW", file).Output()
				if err != nil {
					t.Fatal(err)
				}
				// Type, address, offset, size, entry size; no flags; link, info, alignment.
				if !regexp.MustCompile(`(?m)\s__simple_marker\.1\s+PROGBITS\s+0+\s+[0-9a-f]+\s+[0-9a-f]+\s+0+\s+0\s+0\s+1\s*$`).Match(out) {
					t.Errorf("the section has flags, or an address\n%s", out)
				}
			})
		}
	}
}

// A variable that is gone, or of another type than the description says, stops the build or
// is warned of, at the marker's line; with the records and without.
func TestHeaderBreaksTheBuild(t *testing.T) {
	for _, tt := range []struct{ flag, from, to, want string }{
		{"-DON", "(void *)cmd, cmd->len, k)", "(void *)cmd, cmd->length, k)", "shapes.c:22:"},
		{"-DWAYMARK_NO_SIMPLE", "(void *)cmd, cmd->len, k)", "(void *)cmd, gone, k)", "shapes.c:22:"},
		{"-Werror", "(void *)cmd, cmd->len, k)", "(void *)cmd, cmd->inner.name, k)", "shapes.c:22:"},
	} {
		source, err := os.ReadFile(shapes)
		if err != nil {
			t.Fatal(err)
		}
		changed := filepath.Join(t.TempDir(), "shapes.c")
		if err := os.WriteFile(changed, []byte(strings.Replace(string(source), tt.from, tt.to, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, c := range compilers {
			text, err := compile(t, c, os.DevNull, tt.flag, "-S", changed)
			if err == nil || !strings.Contains(text, tt.want) {
				t.Errorf("%v: %q for %q: %v, want a message at %q\n%s", c, tt.to, tt.from, err, tt.want, text)
			}
		}
	}
}

// bare is a record as the macro of the Linux patch writes it: names without quotes in the
// source, and .string.
const bare = `
int f(int rtn)
{
	__asm__(".pushsection __simple_marker.1\n.string \"queuecommand_return\"\n.string \"drivers/scsi/scsi.c\"\n"
		".string \"12\"\n.string \"Command returning %p Return value %d\"\n.string \"cmd, rtn\"\n.popsection\n");
	return rtn;
}
`

func TestKernelMacro(t *testing.T) {
	dir := t.TempDir()
	source, file := filepath.Join(dir, "f.c"), filepath.Join(dir, "f.so")
	if err := os.WriteFile(source, []byte(bare), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := compile(t, compilers[0], file, "-shared", "-fPIC", source); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	records, problems, err := readFile(file)
	want := []Record{{"queuecommand_return", "drivers/scsi/scsi.c", 12, "Command returning %p Return value %d", "cmd, rtn"}}
	if d := cmp.Diff(want, records); d != "" || err != nil || problems != nil {
		t.Errorf("%v %v (-want +got)\n%s", err, problems, d)
	}
}

func readFile(path string) ([]Record, []error, error) {
	im, err := elffile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer im.Close()
	return Read(im)
}

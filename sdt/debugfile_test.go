package sdt

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// hiddenSource is a program with a probe whose operand is a static variable.
const hiddenSource = `
.data
.zero 24
hidden: .long 0
.text
.globl main
main: nop
xorl %eax, %eax
ret
.section .note.GNU-stack,"",@progbits
.section .note.stapsdt,"","note"
.4byte 8, 2f-1f, 3
.asciz "stapsdt"
1: .8byte main, 0, 0
.asciz "p"
.asciz "n"
.asciz "4@hidden(%rip)"
2: .balign 4
`

// A stripped file's variables are found through its debug file, wherever gdb would find that,
// and through no other's.
func TestDebugFile(t *testing.T) {
	peer.Need(t, "gcc", "objcopy", "strip")
	old := elffile.DebugRoot
	t.Cleanup(func() { elffile.DebugRoot = old })
	for name, test := range map[string]struct {
		flags string
		at    func(dir, root, id string) string // where the debug file goes
		other bool                              // it is another program's
		want  string                            // "" for found
	}{
		"build id":       {"", func(_, root, id string) string { return filepath.Join(root, ".build-id", id[:2], id[2:]+".debug") }, false, ""},
		"beside":         {"", func(dir, _, _ string) string { return filepath.Join(dir, "p.debug") }, false, ""},
		"below":          {"", func(dir, _, _ string) string { return filepath.Join(dir, ".debug/p.debug") }, false, ""},
		"root":           {"", func(dir, root, _ string) string { return filepath.Join(root, dir, "p.debug") }, false, ""},
		"checksum":       {"-Wl,--build-id=none", func(dir, _, _ string) string { return filepath.Join(dir, "p.debug") }, false, ""},
		"wrong build id": {"", func(dir, _, _ string) string { return filepath.Join(dir, "p.debug") }, true, "its debug file was not found"},
		"wrong checksum": {"-Wl,--build-id=none", func(dir, _, _ string) string { return filepath.Join(dir, "p.debug") }, true, "its debug file was not found"},
		"none":           {"", func(dir, _, _ string) string { return filepath.Join(dir, "elsewhere") }, false, "its debug file was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			elffile.DebugRoot = t.TempDir()
			build := func(name, more string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "p.s"), []byte(hiddenSource+more), 0o600); err != nil {
					t.Fatal(err)
				}
				run(t, dir, "gcc", append(strings.Fields(test.flags), "-o", name, "p.s")...)
			}
			build("p", "")
			whole, err := Open(filepath.Join(dir, "p"))
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, "objcopy", "--only-keep-debug", "p", "p.debug")
			run(t, dir, "strip", "p")
			run(t, dir, "objcopy", "--add-gnu-debuglink=p.debug", "p")
			if test.other {
				build("q", ".data\nmore: .quad 0\n")
				run(t, dir, "objcopy", "--only-keep-debug", "q", "p.debug")
			}
			to := test.at(dir, elffile.DebugRoot, whole.BuildID)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "p.debug"), to); err != nil {
				t.Fatal(err)
			}
			checkHidden(t, filepath.Join(dir, "p"), whole, to, test.want)
		})
	}
}

// checkHidden reads a stripped file: the operand's address is that of the symbols in the whole file.
func checkHidden(t *testing.T, path string, whole *File, debug, fail string) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Sites) != 1 || len(f.Sites[0].Operands) != 1 {
		t.Fatalf("got %+v", f)
	}
	got := f.Sites[0].Operands[0]
	if fail != "" {
		if got.Kind != Unreadable || !strings.Contains(got.Err.Error(), fail) {
			t.Errorf("got %v, want %q", got, fail)
		}
		return
	}
	if want := whole.Sites[0].Operands[0]; got != want || got.Kind != Memory {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := symbolAddress(t, debug, "hidden"); uint64(f.Sites[0].Address)+uint64(got.Disp) != want {
		t.Errorf("got %v at %#x, want %#x", got, f.Sites[0].Address, want)
	}
	if plain, err := readPlain(path); err != nil || plain.Sites[0].Operands[0].Kind != Unreadable {
		t.Errorf("without a path: %+v, %v", plain, err)
	}
}

func readPlain(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

func symbolAddress(t *testing.T, path, name string) uint64 {
	t.Helper()
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s: no symbol %s", path, name)
	return 0
}

// A file must not send its reader to another directory, nor to a missing file.
func TestHostileDebugLink(t *testing.T) {
	for _, data := range []string{"", "\x00", "../x\x00\x00\x00\x001234", "/etc/x\x00\x001234", "..\x00\x001234", ".\x00\x00\x001234", "name", "name\x00\x00\x00\x00", "name\x00\x00\x00\x00123"} {
		e := newELF(testNotes[:1]...)
		e.link = []byte(data)
		im := openTestImage(t, e)
		if name, sum := im.DebugLink(); name != "" || sum != 0 {
			t.Errorf("%q: got %q, %#x", data, name, sum)
		}
	}
	e := newELF(testNotes[:1]...)
	e.link = []byte("good.debug\x00\x00\x01\x02\x03\x04")
	if name, sum := openTestImage(t, e).DebugLink(); name != "good.debug" || sum != 0x04030201 {
		t.Errorf("got %q, %#x", name, sum)
	}
}

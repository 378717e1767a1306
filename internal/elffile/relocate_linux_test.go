package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const relocatedSource = `
__thread int mine; static __thread long yours = 3; int shared; static const char *const names[] = {"a", "b"};
static inline int twice(int n) { return 2 * n + mine; }
__attribute__((section(".text.other"))) int other(int n) { for (int i = 0; i < n; i++) shared += twice(i); return names[n & 1][0]; }
int first(int n) { return other(n) + yours; }
int main(int argc, char **argv) { return first(argc); }
`

// objects compiles relocatable files in all the ways that compilers and linkers have.
func objects(t testing.TB) []string {
	t.Helper()
	tools := peer.Need(t, "gcc", "clang", "ld")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(relocatedSource), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []string
	for name, argv := range map[string]string{
		"gcc5.o":       tools[0] + " -g -O2 -gdwarf-5 -c",
		"gcc4.o":       tools[0] + " -g -O0 -gdwarf-4 -ffunction-sections -c",
		"zlib.o":       tools[0] + " -g -O2 -gz=zlib -c",
		"clang.o":      tools[1] + " -g -O2 -c",
		"arm64.o":      tools[1] + " -g -O2 --target=aarch64-linux-gnu -ffreestanding -c",
		"arm64-gdw4.o": tools[1] + " -g -O0 -gdwarf-4 --target=aarch64-linux-gnu -ffreestanding -c",
	} {
		command(t, dir, append(strings.Fields(argv), "-o", name, "f.c")...)
		all = append(all, filepath.Join(dir, name))
	}
	command(t, dir, tools[2], "-r", "-o", "merged.o", "gcc5.o")
	return append(all, filepath.Join(dir, "merged.o"))
}

func command(t testing.TB, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// Relocated sections have the bytes that readelf shows of them.
func TestRelocated(t *testing.T) {
	readelf := peer.Need(t, "readelf")[0]
	for _, path := range objects(t) {
		im, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for i := range im.Sections {
			s := &im.Sections[i]
			if im.relocations(t, s) == nil || !im.HasPrefix(s, ".debug_") {
				continue
			}
			// readelf leaves all sections at address 0.
			if _, err := im.symbolValues(im.relocations(t, s).Link); err != nil {
				t.Fatal(err)
			}
			for i := range im.values {
				im.values[i].address -= im.values[i].section
				im.values[i].section = 0
			}
			got, err := im.Relocated(s)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if want := dumped(t, readelf, path, im.Name(s)); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes, not the %d of readelf", filepath.Base(path), im.Name(s), len(got), len(want))
			}
			plain, err := im.Contents(s)
			if err != nil || im.HasName(s, ".debug_info") && bytes.Equal(plain, got) {
				t.Errorf("%s, %s: no relocation had an effect (%v)", filepath.Base(path), im.Name(s), err)
			}
			compared++
		}
		if compared < 4 {
			t.Errorf("%s: %d sections with relocations", path, compared)
		}
		im.Close()
	}
}

func (im *Image) relocations(t *testing.T, s *Section) *Section {
	t.Helper()
	r, err := im.relocationsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dumped returns a section's bytes as readelf -R shows them: an address, up to four words, and text.
func dumped(t *testing.T, readelf, path, section string) (all []byte) {
	t.Helper()
	for _, line := range strings.Split(command(t, ".", readelf, "-z", "-R", section, path), "\n") {
		line, ok := strings.CutPrefix(line, "  0x")
		if !ok || len(line) < 9+35 {
			continue
		}
		row, err := hex.DecodeString(strings.ReplaceAll(line[9:9+35], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row...)
	}
	return all
}

// No two functions of a relocatable file have the same address.
func TestRelocatedApart(t *testing.T) {
	for _, path := range objects(t) {
		im, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		at := map[uint64]bool{}
		table := im.First(elf.SHT_SYMTAB)
		for i := range im.Sections {
			if table == &im.Sections[i] {
				if _, err := im.symbolValues(uint32(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		n := 0
		if err := im.symbols(table, func(s *Symbol) {
			if s.Type == elf.STT_FUNC && s.Defined() {
				at[im.values[n].address] = true
			}
			n++
		}); err != nil {
			t.Fatal(err)
		}
		if len(at) < 3 || at[0] {
			t.Errorf("%s: functions at %d addresses: %v", filepath.Base(path), len(at), at)
		}
		im.Close()
	}
}

// FuzzRelocated relocates the sections of files of which any byte may be wrong.
func FuzzRelocated(f *testing.F) {
	for _, path := range objects(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := FromBytes(data)
		if err != nil {
			return
		}
		defer im.Close()
		for i := range im.Sections {
			s := &im.Sections[i]
			if !im.HasPrefix(s, ".debug_") {
				continue
			}
			before, err := im.Contents(s)
			if err != nil {
				continue
			}
			if after, err := im.Relocated(s); err == nil && len(after) != len(before) {
				t.Errorf("%d bytes from %d", len(after), len(before))
			}
		}
	})
}

package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const sample = `static inline int in(int n) { int m = n * 2; return m + n; }
int f(int n) { int sum = 0; for (int i = 0; i < n; i++) { int k = in(i); sum += k; } return sum; }
void _start(void) { for (;;) f(3); }
`

// compiled returns a small program with debugging information, and the bytes of its file.
func compiled(t testing.TB, flags ...string) []byte {
	t.Helper()
	gcc, dir := peer.Need(t, "gcc")[0], t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gcc, append(flags, "-nostdlib", "-static", "-w", "-o", "f", "f.c")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sections returns the debugging information of such a program by sections.
func sections(t testing.TB, flags ...string) map[string][]byte {
	t.Helper()
	f, err := Open(bytes.NewReader(compiled(t, flags...)), "f")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, name := range []string{"abbrev", "info", "str", "line", "line_str", "ranges", "rnglists", "frame"} {
		if all[name], err = f.Section(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// of makes a File of sections.
func of(s map[string][]byte) (f *File, err error) {
	f = &File{sections: s}
	err = Guard(func() error {
		if f.Data, err = dwarf.New(s["abbrev"], nil, nil, s["info"], s["line"], nil, s["ranges"], s["str"]); err != nil {
			return err
		}
		for _, name := range []string{"line_str", "rnglists"} {
			if err := f.Data.AddSection(".debug_"+name, s[name]); err != nil {
				return err
			}
		}
		f.Units, err = units(s["info"])
		return err
	})
	return f, err
}

// FuzzLines reads line tables of any kind: it ends, with rows of files that were asked for, or a reason.
func FuzzLines(f *testing.F) {
	bases := []map[string][]byte{sections(f, "-g", "-O2", "-gdwarf-4"), sections(f, "-g", "-O2", "-gdwarf-5")}
	for i, s := range bases {
		f.Add(i == 1, s["line"], s["line_str"])
	}
	for _, h := range hugeTables {
		f.Add(true, h.table, h.names)
	}
	f.Fuzz(func(t *testing.T, newer bool, line, names []byte) {
		base := bases[0]
		if newer {
			base = bases[1]
		}
		s := map[string][]byte{"abbrev": base["abbrev"], "info": base["info"], "str": base["str"], "rnglists": base["rnglists"], "line": line, "line_str": names}
		info, err := of(s)
		if err != nil {
			return
		}
		asked := map[string]bool{}
		_ = Guard(func() error {
			for i := range info.Units {
				e, err := info.Entry(&info.Units[i])
				if err != nil {
					return err
				}
				lines, err := info.Lines(e, func(path string) (string, bool) {
					asked[path] = true
					return path, strings.HasSuffix(path, "c")
				})
				if err != nil || lines == nil {
					return err
				}
				if err := lines.Read(func(Row) bool { return true }); err != nil {
					return err
				}
				if len(lines.Rows) > len(line) {
					t.Errorf("%d rows of %d bytes", len(lines.Rows), len(line))
				}
				for _, r := range lines.Rows {
					if r.File < -1 || int(r.File) >= len(lines.Names) {
						t.Fatalf("a row of file %d, there are %d", r.File, len(lines.Names))
					}
				}
				for _, name := range lines.Names {
					if !asked[name] {
						t.Errorf("a file %q that nobody was asked about", name)
					}
				}
			}
			return nil
		})
	})
}

// FuzzScopes reads units of which any byte may be wrong: no scope is without code, and there are no
// more of them than entries.
func FuzzScopes(f *testing.F) {
	for _, flags := range []string{"-gdwarf-4 -O2", "-gdwarf-5 -O2", "-gdwarf-5 -O0"} {
		s := sections(f, append(strings.Fields(flags), "-g")...)
		f.Add(s["abbrev"], s["info"], s["ranges"], s["rnglists"])
	}
	f.Fuzz(func(t *testing.T, abbrev, data, ranges, lists []byte) {
		info, err := of(map[string][]byte{"abbrev": abbrev, "info": data, "ranges": ranges, "rnglists": lists, "str": make([]byte, 256)})
		if err != nil {
			return
		}
		for i := range info.Units {
			u := &info.Units[i]
			_ = Guard(func() error {
				e, err := info.Entry(u)
				if err != nil {
					return err
				}
				scopes, _, err := info.Functions(u, e, []uint64{0x401000, 0x401020})
				left := len(data)
				for work := scopes; len(work) > 0; work = work[1:] {
					s := work[0]
					work = append(work, s.Children...)
					info.Name(s)
					if left--; left < 0 || len(s.Ranges) == 0 || s.Outermost() == nil {
						t.Fatalf("%d scopes of %d bytes; ranges %v", len(scopes), len(data), s.Ranges)
					}
				}
				return err
			})
			_ = Guard(func() error {
				return info.UnitsAt([]uint64{0x401000}, func(*Unit, *dwarf.Entry, []uint64) error { return nil })
			})
		}
	})
}

// FuzzUnwind looks for frames in tables of any kind.
func FuzzUnwind(f *testing.F) {
	f.Add(false, sections(f, "-g", "-fno-asynchronous-unwind-tables")["frame"], uint64(0x401000))
	// A common entry, one for 0x1000 to 0x1100 of it, and the end.
	common := []byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1, 0, 0}
	own := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{28, 0, 0, 0}, 0x1000), 0x100)
	own = append(own, 0, 0x41, 0x0e, 16, 0x0a, 0x42, 0x0b, 0)
	table := append(append([]byte{20, 0, 0, 0}, common...), append([]byte{28, 0, 0, 0}, own...)...)
	f.Add(true, append(table, 0, 0, 0, 0), uint64(0x1002))
	f.Fuzz(func(t *testing.T, eh bool, data []byte, pc uint64) {
		if c, err := newFrameTable(data, 0, eh).find(pc); err != nil && c != (CFA{}) {
			t.Errorf("both %v and %v", c, err)
		}
	})
}

// head5 is what a line table of DWARF 5 begins with, up to its lists of names.
const head5 = "\x40\x00\x00\x00\x05\x00\x08\x00\x20\x00\x00\x00\x01\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"

// hugeTables are line tables of some bytes that debug/dwarf would make gigabytes of.
var hugeTables = []struct{ table, names []byte }{
	{[]byte(head5 + "\x00\xff\xff\xff\xff\xff\x01" + strings.Repeat("\x00", 40)), nil},                                                  // directories of nothing
	{[]byte(head5 + "\x01\x01\x1f\xff\xff\xff\xff\x0f" + strings.Repeat("\x00", 40)), []byte("\x00")},                                   // more than there are bytes
	{[]byte(head5 + "\x01\x01\x1f\x01\x00\x00\x00\x00" + strings.Repeat("\x00", 40)), bytes.Repeat([]byte("a"), 2*maxName)},             // a name without an end
	{[]byte(head5 + "\x01\x01\x42\xff\xff\x03" + strings.Repeat("\x00", 40)), nil},                                                      // of a form that takes no bytes
	{[]byte("\x40\x00\x00\x00\x04\x00\x20\x00\x00\x00\x01\x01\x01\xfb\x0e\x01" + strings.Repeat("a", 2*maxName) + "\x00\x00\x00"), nil}, // and before DWARF 5
	{defining("\x00\x85\x40\x03" + strings.Repeat("a", 2*maxName) + "\x00\x00\x00\x00"), nil},                                           // one that an instruction defines
}

// defining returns a line table of DWARF 4 with these instructions, and none that is standard.
func defining(instructions string) []byte {
	head := "\x04\x00\x08\x00\x00\x00\x01\x01\x01\xfb\x0e\x01\x00\x00"
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(head)+len(instructions)))
	return append(size, head+instructions...)
}

func TestHugeLineTables(t *testing.T) {
	base := sections(t, "-g", "-gdwarf-4")
	read := func(table, names []byte) error {
		info, err := of(map[string][]byte{"abbrev": base["abbrev"], "info": base["info"], "str": base["str"], "rnglists": base["rnglists"], "line": table, "line_str": names})
		if err != nil {
			t.Fatal(err)
		}
		unit, err := info.Entry(&info.Units[0])
		if err != nil {
			t.Fatal(err)
		}
		_, err = info.Lines(unit, func(string) (string, bool) { return "", false })
		return err
	}
	const define = "\x00\x06\x03a\x00\x00\x00\x00"
	if err := read(defining(define), nil); err != nil {
		t.Errorf("one file that an instruction defines: %v", err)
	}
	many := struct{ table, names []byte }{defining(strings.Repeat(define, maxNames+1)), nil}
	for i, h := range append(slices.Clone(hugeTables), many) {
		if err := read(h.table, h.names); err == nil || !strings.Contains(err.Error(), "line table at 0x0: ") {
			t.Errorf("table %d: %v", i, err)
		}
	}
}

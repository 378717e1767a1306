package ccode

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

const fuzzed = `#include "waymark/simple.h"
struct s { int n; char tag[8]; struct s *next; };
static inline int in(int n, struct s *p) { int m = n * 2; WAYMARK_SIMPLE("f:in", "%d %d", m, p->n); return m + p->n; }
int f(int n, struct s *p) { int sum = 0; for (int i = 0; i < n; i++) { WAYMARK_SIMPLE("f:loop", "%d %s", i, p->tag, sum); sum += in(i, p); }
	switch (n) { case 1: sum = 3; break; case 2: sum = 5; break; case 3: sum = 9; } return sum; }
void _start(void) { struct s s = {1, "x", 0}; for (;;) s.n = f(s.n, &s); }
`

// FuzzFind reads programs of which any byte may be wrong: their line tables, scopes, unwind tables,
// types, locations and code.
func FuzzFind(f *testing.F) {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(fuzzed), 0o600); err != nil {
		f.Fatal(err)
	}
	include, err := filepath.Abs("../../../../include")
	if err != nil {
		f.Fatal(err)
	}
	compilers := peer.Need(f, "gcc", "clang")
	for i, flags := range []string{"-O0 -gdwarf-5", "-O2 -gdwarf-5", "-O2 -gdwarf-4", "-O2 -gdwarf-4 -gz", "-O1 -gdwarf-4", "-O2 -gdwarf-5"} {
		cmd := exec.Command(compilers[i/4], append(strings.Fields(flags), "-nostdlib", "-static", "-I"+include, "-w", "-o", "f", "f.c")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			f.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := debuginfo.Open(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		defer info.Close()
		marks := []Mark{{File: "f.c", Line: 3}, {File: "f.c", Line: 4}, {File: "f.c", Line: 5}}
		_ = debuginfo.Guard(func() error {
			section, err := info.Section(section.AddressSection)
			if err != nil {
				return err
			}
			for at := 0; at+8 <= len(section) && at < 30*24; at += 24 {
				b := debuginfo.Buffer{Data: section, At: at}
				marks[0].At = append(marks[0].At, Address{Address: b.Uint(8)})
			}
			return nil
		})
		found, err := Find(info, marks)
		if err != nil {
			return
		}
		for i := range found {
			for _, p := range found[i].Places {
				if p.Scope == nil {
					continue
				}
				_ = debuginfo.Guard(func() error {
					fr := variable.At(info, p.Scope, variable.Point{Position: p.At, Probe: p.Address, Line: marks[i].Line})
					for _, v := range append(fr.InScope(), fr.Lookup("p->next->tag"), fr.Lookup("*p"), fr.Lookup("sum")) {
						for _, r := range v.Readings(0) {
							if r.Err == nil && r.Number == nil && r.Pointer == nil {
								t.Errorf("%s: neither a value nor a reason", r.Name)
							}
						}
					}
					return nil
				})
			}
		}
	})
}

// FuzzDecode reads code of any kind: no instruction is longer than what is left of it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xe9, 0, 0, 0, 0, 0x3e, 0xff, 0xe0, 0xc5, 0xf8, 0x77, 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x44, 0x24, 1})
	f.Fuzz(func(t *testing.T, code []byte) {
		for at := 0; at < len(code); {
			in := decode(code[at:min(len(code), at+15)], uint64(at))
			if in.size == 0 {
				return
			}
			if in.size < 0 || in.size > len(code)-at || in.size > 15 {
				t.Fatalf("% x: %d bytes of %d", code[at:], in.size, len(code)-at)
			}
			in.cost()
			at += in.size
		}
	})
}

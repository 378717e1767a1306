package model

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const relocatableSource = `#include "waymark/simple.h"
static volatile int sink;
static __attribute__((noinline)) int one(int a) { WAYMARK_SIMPLE("of:one", "%d", a); return a * sink; }
static inline int inlined(int a) { WAYMARK_SIMPLE("of:inlined", "%d", a); return a + sink; }
__attribute__((section(".text.apart"))) int apart(int a) { WAYMARK_SIMPLE("of:apart", "%d", a); return inlined(a) * 3; }
__attribute__((section(".text.apart"))) int second(int a) { if (a > sink) WAYMARK_SIMPLE("of:second", "%d", a); return one(a); }
int main(int argc, char **argv) { WAYMARK_SIMPLE("of:main", "%d", argc); return apart(argc) + second(argc); }
`

// The simple markers of relocatable files are in the functions that the source has them in.
func TestRelocatableFunctions(t *testing.T) {
	tools := peer.Need(t, "gcc", "clang", "ld")
	for name, argv := range map[string][]string{
		"gcc":               {tools[0], "-O2"},
		"gcc, no inlining":  {tools[0], "-O0", "-gdwarf-4"},
		"gcc, compressed":   {tools[0], "-O2", "-gz", "-ffunction-sections"},
		"clang":             {tools[1], "-O2"},
		"clang, compressed": {tools[1], "-O1", "-gdwarf-4", "-gz"},
		"arm64":             {tools[1], "-O1", "--target=aarch64-linux-gnu", "-ffreestanding"},
		"type units":        {tools[0], "-O2", "-fdebug-types-section"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			do := func(name string, args ...string) {
				t.Helper()
				cmd := exec.Command(name, args...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s %v: %v\n%s", name, args, err, out)
				}
			}
			source, object, merged := filepath.Join(dir, "f.c"), filepath.Join(dir, "f.o"), filepath.Join(dir, "f.ko")
			if err := os.WriteFile(source, []byte(relocatableSource), 0o600); err != nil {
				t.Fatal(err)
			}
			do(argv[0], append(argv[1:], "-g", "-w", "-I../../../include", "-c", "-o", object, source)...)
			files := []string{object}
			if name != "arm64" {
				do(tools[2], "-r", "-o", merged, object)
				files = append(files, merged)
			}
			for _, path := range files {
				checkRelocatable(t, path)
			}
		})
	}
}

func checkRelocatable(t *testing.T, path string) {
	t.Helper()
	markers, err := FindPath(path, false)
	if err != nil || len(markers) != 5 {
		t.Fatalf("%s: %d markers, %v", path, len(markers), err)
	}
	for _, m := range markers {
		if want := strings.TrimPrefix(m.Simple.Name, "of:"); m.Simple.Function != want {
			t.Errorf("%s: %s is in %q", path, m.Simple.Name, m.Simple.Function)
		}
		if err := m.NoPlace(); !errors.Is(err, ErrRelocatable) {
			t.Errorf("%s: %s: %v", path, m.Simple.Name, err)
		}
	}
	if problems := markers[0].File.Problems; len(problems) > 0 {
		t.Errorf("%s: %v", path, problems)
	}
}

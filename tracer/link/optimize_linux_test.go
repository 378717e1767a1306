package link

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// optimize builds a program of testdata and links it with --optimize.
func optimize(t *testing.T, c gobuild.Config, dir string) (plain, path string, report *Report) {
	t.Helper()
	plain = gobuild.Build(t, c, "testdata/"+dir)
	path = filepath.Join(t.TempDir(), dir)
	report, err := File(plain, path, Options{Optimize: true})
	if err != nil {
		t.Fatal(err)
	}
	return plain, path, report
}

// duration is how long the programs storm: WAYMARK_STORM=10m for the long run.
func duration(short string) string {
	if s := os.Getenv("WAYMARK_STORM"); s != "" {
		return s
	}
	if testing.Short() {
		return "200ms"
	}
	return short
}

func runStorm(t *testing.T, path string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", bytes.TrimSpace(out))
}

// Every position of a site relative to words, cache lines and pages, of both lengths of jumps.
func TestEveryPosition(t *testing.T) {
	for _, pie := range []bool{false, true} {
		// The code has a megabyte and a half: where linkers put it, numbers of other meaning look like pointers into it.
		c := gobuild.Config{PIE: pie, Flags: []string{"-ldflags=-T=0x5a5a41000"}}
		t.Run(c.String(), func(t *testing.T) {
			_, path, report := optimize(t, c, "positions")
			positions := map[string]map[uint64]bool{"main.short": {}, "main.near": {}}
			for _, s := range report.Sites {
				if !s.Optimized {
					t.Fatalf("%s at 0x%x: %s", s.Function, s.Address, s.Why)
				}
				positions[s.Function][s.Address%4096] = true
			}
			for name, at := range positions {
				if len(at) != 4096 {
					t.Errorf("%s: %d positions in a page, want every one", name, len(at))
				}
			}
			runStorm(t, path, nil, duration("3s"))
		})
	}
}

// Sites of every shape that the compiler makes, toggled while everything else goes on.
func TestPatchingStorm(t *testing.T) {
	for _, c := range []gobuild.Config{{Go: gobuild.Versions[0]}, {}, {PIE: true, Strip: true}, {External: true}} {
		t.Run(c.String(), func(t *testing.T) {
			_, path, report := optimize(t, c, "storm")
			for _, s := range report.Sites {
				// A deferred call has the marker's address from a closure, which could be another's.
				if !s.Optimized && s.Function != "main.deferred.deferwrap1" {
					t.Errorf("%s %s in %s:%d is left generic: %s", s.Kind, s.Name, s.File, s.Line, s.Why)
				}
			}
			runStorm(t, path, []string{"GODEBUG=asyncpreemptoff=0"}, duration("2s"))
			if !testing.Short() {
				runStorm(t, path, []string{"GODEBUG=asyncpreemptoff=1"}, duration("1s"))
			}
		})
	}
}

// Linking again changes nothing, and linking without --optimize puts the code back.
func TestOptimizeIsUndone(t *testing.T) {
	plain, path, first := optimize(t, gobuild.Config{}, "storm")
	if !slices.ContainsFunc(first.Sites, func(s SiteReport) bool { return s.Optimized }) {
		t.Fatal("nothing was optimized")
	}
	again, err := File(path, "", Options{Optimize: true})
	if err != nil || !again.Unchanged {
		t.Errorf("linking again: unchanged %t, %v", again != nil && again.Unchanged, err)
	}
	back, err := File(path, "", Options{})
	if err != nil || back.Unchanged {
		t.Fatalf("linking without --optimize: %v", err)
	}
	if _, err := File(plain, "", Options{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(loaded(t, plain), loaded(t, path)) {
		t.Error("what is loaded is not what a link without --optimize makes of it")
	}
}

// loaded returns what the segments of a file hold.
func loaded(t *testing.T, path string) (all []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := openImage(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range img.loads {
		if p.Offset == 0 { // begins with the ELF header, which points to the sections
			all = append(all, data[ehdrSize:p.FileSize]...)
			continue
		}
		all = append(all, data[p.Offset:p.Offset+p.FileSize]...)
	}
	return all
}

// In race builds Mark is a call, and the detector is to see every load.
func TestRaceBuildsStayGeneric(t *testing.T) {
	_, path, report := optimize(t, gobuild.Config{Race: true}, "storm")
	for _, s := range report.Sites {
		if s.Optimized {
			t.Errorf("%s in %s is optimized", s.Name, s.Function)
		}
	}
	runStorm(t, path, nil, "200ms")
}

// The sites of a library would be looked for in the file of the program that loads it.
func TestLibrariesAreNotOptimized(t *testing.T) {
	path := gobuild.Build(t, gobuild.Config{External: true, Flags: []string{"-buildmode=c-shared"}}, "testdata/storm")
	if _, err := File(path, "", Options{Optimize: true}); !errors.Is(err, ErrNotExecutable) {
		t.Errorf("%v", err)
	}
}

// Every site is in the report, those too whose marker's address is not in their code.
func TestAllSitesAreReported(t *testing.T) {
	_, path, report := optimize(t, gobuild.Config{}, "deferred")
	left := make(map[uint64]bool)
	for _, s := range report.Sites {
		if s.Optimized != (s.Why == "") {
			t.Errorf("%s in %s: optimized %t, %q", s.Name, s.Function, s.Optimized, s.Why)
		}
		left[s.Address] = !s.Optimized
	}
	for _, m := range report.Markers {
		for _, s := range m.Sites {
			if generic, reported := left[s.Address]; !reported || generic == s.Optimized {
				t.Errorf("%s in %s: reported %t, left generic %t, optimized %t", m.Name, s.Function, reported, generic, s.Optimized)
			}
		}
	}
	runStorm(t, path, nil)
}

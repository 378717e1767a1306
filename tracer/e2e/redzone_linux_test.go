package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Of compiled functions, those are refused whose variables a probe overwrites, and none of those that
// call others. To show both, the test attaches to all of them first, as perf does.
func TestRedZoneOfFunctions(t *testing.T) {
	peer.Root(t)
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop5 {
		t.Skipf("this kernel makes no calls of nops of 5 bytes: %v, %v", g, err)
	}
	compilers := peer.Need(t, "gcc", "clang")
	peer.Header(t, "sys/sdt.h")
	calls := []string{"calls", "calls_later", "calls_seldom", "calls_variable", "calls_aligned"}
	for flags, test := range map[string]struct{ harmed, accepted []string }{
		"-O0":                                    {[]string{"leaf_values", "leaf_frame", "leaf_switch"}, calls},
		"-O2":                                    {[]string{"leaf_values", "leaf_frame", "leaf_switch", "tail"}, calls},
		"-O2 -fno-omit-frame-pointer":            {[]string{"leaf_values"}, calls},
		"-O2 -fno-asynchronous-unwind-tables":    {[]string{"leaf_values"}, calls},
		"-O2 -s":                                 {[]string{"leaf_values"}, calls},
		"-O2 -s -fno-asynchronous-unwind-tables": {[]string{"leaf_values"}, nil},
		"-O0 -mno-red-zone":                      {nil, append([]string{"leaf_none", "leaf_switch"}, calls...)},
		"-O2 -mno-red-zone":                      {nil, append([]string{"leaf_none", "leaf_switch", "tail"}, calls...)},
		"-O0 -pg -mfentry":                       {nil, calls},
		"-O3 -march=haswell":                     {[]string{"leaf_values"}, calls},
	} {
		for _, compiler := range compilers {
			t.Run(filepath.Base(compiler)+" "+flags, func(t *testing.T) {
				path := filepath.Join(private(t), "frames")
				t.Setenv("GMON_OUT_PREFIX", path) // where -pg writes its counts
				run(t, compiler, append(strings.Fields(flags), "-w", "-o", path, "testdata/frames.c")...)
				harmed, none := changedWhile(t, path, false)
				if len(none) > 0 {
					t.Errorf("refused though nothing should be: %v", none)
				}
				changed, refused := changedWhile(t, path, true)
				if len(changed) > 0 {
					t.Errorf("a probe changed values of %v", changed)
				}
				for _, name := range harmed {
					if !slices.Contains(refused, name) {
						t.Errorf("%s is not refused", name)
					}
				}
				for _, name := range test.harmed {
					if !slices.Contains(harmed, name) {
						t.Errorf("a probe does no harm to %s: the test shows nothing", name)
					}
				}
				for _, name := range test.accepted {
					if slices.Contains(refused, name) {
						t.Errorf("%s is refused", name)
					}
				}
				t.Logf("harmed: %v; refused: %v", harmed, refused)
			})
		}
	}
}

// changedWhile returns the functions that found other values than they had written while all that is not
// refused was traced.
func changedWhile(t *testing.T, path string, keep bool) (changed, refused []string) {
	t.Helper()
	model.KeepRedZone = keep
	defer func() { model.KeepRedZone = true }()
	const n = 200
	p := converse(t, path, fmt.Sprint(n))
	target := tracer.Path(path)
	markers, err := tracer.Find(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{}
	for _, m := range markers {
		want[m.Name] += n
	}
	c, err := tracer.Count(target, markers, nil)
	if errors.Is(err, tracer.ErrRedZone) {
		return nil, slices.Sorted(maps.Keys(want))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range c.Skipped() {
		if !errors.Is(s, tracer.ErrRedZone) {
			t.Error(s)
		}
		refused = append(refused, s.Marker.Name)
		want[s.Marker.Name] = 0
	}
	p.Tell("")
	for range want {
		var name string
		var count int
		if p.Scan(&name, &count); count > 0 {
			changed = append(changed, name)
		}
	}
	p.Expect("done")
	counts, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range counts {
		if m.Count != want[m.Marker.Name] {
			t.Errorf("%s: %d hits, want %d", m.Marker.Name, m.Count, want[m.Marker.Name])
		}
	}
	return changed, refused
}

package link_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/tracer/link"
)

// A marker of a deferred call, a go statement or a method value has its arguments and its places, which are those of the
// source.
func TestDeferred(t *testing.T) {
	needLinux(t)
	want := []string{
		"bound n uint8: main.main:80",
		"deferred n int, s string: main.both.deferwrap3:50, main.once.deferwrap1:28",
		"literal n int8: main.main.func1.1:82",
		"looped n int64: main.loop.deferwrap1:35",
		"none : main.loop.deferwrap2:37",
		"other n int32: main.values.func1:60, main.values:58",
		"started n uint16: main.both.gowrap4:51, main.main.gowrap1:75",
		"twice b bool, f float64, raw []uint8: main.both.deferwrap1:45, main.both.deferwrap2:49",
		"value n int32: main.values:56",
	}
	configs := []gobuild.Config{{}, {PIE: true, Strip: true}, {Go: gobuild.Versions[0]}}
	if !testing.Short() {
		configs = append(configs, gobuild.Config{Race: true}, gobuild.Config{Go: gobuild.Versions[0], PIE: true}, gobuild.Config{Flags: []string{"-cover", "-coverpkg=."}})
	}
	for _, c := range configs {
		t.Run(c.String(), func(t *testing.T) {
			path := gobuild.Build(t, c, "testdata/deferred")
			report, err := link.File(path, "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range report.Markers {
				var fields, sites []string
				for _, f := range m.Fields {
					fields = append(fields, f.Name+" "+f.Type)
				}
				for _, s := range m.Sites {
					if filepath.Base(s.File) != "main.go" {
						t.Errorf("%s: a place in %s", m.Name, s.File)
					}
					sites = append(sites, fmt.Sprintf("%s:%d", s.Function, s.Line))
				}
				slices.Sort(sites)
				if name := strings.TrimPrefix(m.Name, "deferred:"); name != "pointed" {
					got = append(got, name+" "+strings.Join(fields, ", ")+": "+strings.Join(sites, ", "))
				}
			}
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("markers (-want +got)\n%s", d)
			}
			// Of a pointer that is passed on link knows nothing, and says so.
			warnings := strings.Join(report.Warnings, "\n")
			if len(report.Warnings) != 1 || !strings.Contains(warnings, "deferred:pointed: no code was found that calls Mark on its variable, only code that takes its address (main.go:84)") ||
				strings.Contains(warnings, "gcflags") {
				t.Errorf("warnings %q", report.Warnings)
			}
			if out, err := exec.Command(path).Output(); err != nil || string(out) != "done\n" {
				t.Errorf("%v, %q", err, out)
			}
		})
	}
}

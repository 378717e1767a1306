package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/link"
)

func TestParseBuild(t *testing.T) {
	tests := []struct {
		args  string
		want  buildLine
		build string // the arguments of go build for the output OUT
		list  string
	}{
		{"", buildLine{}, "build -o OUT --", "--"},
		{"./cmd/server", buildLine{packages: []string{"./cmd/server"}}, "build -o OUT -- ./cmd/server", "-- ./cmd/server"},
		{"-o bin/ -race .", buildLine{out: "bin/", flags: []string{"-race"}, packages: []string{"."}}, "build -o OUT -race -- .", "-race -- ."},
		{"-C /src -p 4 -o=x -tags=a,b a.go b.go",
			buildLine{dir: "/src", out: "x", flags: []string{"-p", "4", "-tags=a,b"}, packages: []string{"a.go", "b.go"}},
			"build -C /src -o OUT -p 4 -tags=a,b -- a.go b.go", "-p 4 -tags=a,b -- a.go b.go"},
		{"--o x -v -x -a -json -work -ldflags -s .",
			buildLine{out: "x", flags: []string{"-v", "-x", "-a", "-json", "-work", "-ldflags", "-s"}, packages: []string{"."}},
			"build -o OUT -v -x -a -json -work -ldflags -s -- .", "-ldflags -s -- ."},
		{"-n", buildLine{flags: []string{"-n"}, dryRun: true}, "build -o OUT -n --", "-n --"},
		{"-v -- -o", buildLine{flags: []string{"-v"}, packages: []string{"-o"}}, "build -o OUT -v -- -o", "-- -o"},
		{". -o x", buildLine{packages: []string{".", "-o", "x"}}, "build -o OUT -- . -o x", "-- . -o x"},
		{"--optimize -race -no-watch=false .", buildLine{link: link.Options{Optimize: true}, flags: []string{"-race"}, packages: []string{"."}},
			"build -o OUT -race -- .", "-race -- ."},
		{"--help", buildLine{help: true}, "build -o OUT --", "--"},
	}
	for _, tt := range tests {
		got, err := parseBuild(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if len(got.packages) == 0 {
			got.packages = nil
		}
		if d := cmp.Diff(&tt.want, got, cmp.AllowUnexported(buildLine{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, d)
		}
		if args := strings.Join(got.args("OUT"), " "); args != tt.build {
			t.Errorf("%s: go %s, want go %s", tt.args, args, tt.build)
		}
		if _, args, _ := strings.Cut(strings.Join(got.listArgs(), " "), "{{.Name}} "); args != tt.list {
			t.Errorf("%s: go list … %s, want %s", tt.args, args, tt.list)
		}
	}
}

func TestProgramName(t *testing.T) {
	for path, want := range map[string]string{
		"example.org/server": "server", "example.org/server/v2": "server", "server": "server",
		"v2": "v2", "a/v1": "v1", "a/v0": "v0", "a/vx": "vx", "a/v10": "a", "a/v": "v",
	} {
		if got := programName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestBuildOutput(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "there"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ out, want string }{
		{"", "server"},
		{"x", "x"},
		{"there", "there/server"},
		{"new/", "new/server"},
		{"deep/down/x", "deep/down/x"},
	} {
		got, err := (&buildLine{dir: dir, out: tt.out}).output("server")
		if want := filepath.Join(dir, tt.want); err != nil || got != want {
			t.Errorf("-o %q: %s, %v; want %s", tt.out, got, err, want)
		}
	}
}

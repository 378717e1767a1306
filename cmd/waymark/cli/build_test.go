package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/tracer/link"
)

func TestParseBuild(t *testing.T) {
	tests := []struct {
		args  string
		want  buildLine
		build string // the arguments of go build for the output OUT
	}{
		{"", buildLine{}, "build -o OUT"},
		{"./cmd/server", buildLine{}, "build -o OUT ./cmd/server"},
		{"-o bin/ -race .", buildLine{out: "bin/"}, "build -o OUT -race ."},
		{"-C /src -p 4 -o=x -tags=a,b a.go b.go", buildLine{dir: "/src", out: "x"}, "build -C /src -o OUT -p 4 -tags=a,b a.go b.go"},
		{"--o x -v -x -a -json -work -ldflags -s .", buildLine{out: "x"}, "build -o OUT -v -x -a -json -work -ldflags -s ."},
		{"-n", buildLine{}, "build -o OUT -n"},
		{"-v -- -o", buildLine{}, "build -o OUT -v -- -o"},
		{"-future value -other=1 -o x ./a ./b", buildLine{out: "x"}, "build -o OUT -future value -other=1 ./a ./b"},
		{"./a -o x -tags b", buildLine{out: "x"}, "build -o OUT ./a -tags b"},
		{"-o x -o y .", buildLine{out: "y"}, "build -o OUT ."},
		{"-v -C /src .", buildLine{}, "build -o OUT -v -C /src ."},
		{"-overlay o.json .", buildLine{overlay: "o.json"}, "build -o OUT -overlay o.json ."},
		{"--optimize -race -no-watch=false .", buildLine{link: link.Options{Optimize: true}}, "build -o OUT -race ."},
		{"--help", buildLine{help: true}, "build -o OUT"},
	}
	for _, tt := range tests {
		got, err := parseBuild(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if args := strings.Join(got.build("OUT"), " "); args != tt.build {
			t.Errorf("%s: go %s, want go %s", tt.args, args, tt.build)
		}
		got.args = nil
		if d := gocmp.Diff(&tt.want, got, gocmp.AllowUnexported(buildLine{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, d)
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
		in, name, err := (&buildLine{dir: dir, out: tt.out}).output()
		got := filepath.Join(in, cmp.Or(name, "server"))
		if want := filepath.Join(dir, tt.want); err != nil || got != want {
			t.Errorf("-o %q: %s, %v; want %s", tt.out, got, err, want)
		}
	}
}

package build

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
		want  Line
		build string // the arguments of go build for the output OUT
	}{
		{"", Line{}, "build -o OUT"},
		{"./cmd/server", Line{}, "build -o OUT ./cmd/server"},
		{"-o bin/ -race .", Line{out: "bin/"}, "build -o OUT -race ."},
		{"-C /src -p 4 -o=x -tags=a,b a.go b.go", Line{dir: "/src", out: "x"}, "build -C /src -o OUT -p 4 -tags=a,b a.go b.go"},
		{"--o x -v -x -a -json -work -ldflags -s .", Line{out: "x"}, "build -o OUT -v -x -a -json -work -ldflags -s ."},
		{"-n", Line{}, "build -o OUT -n"},
		{"-v -- -o", Line{}, "build -o OUT -v -- -o"},
		{"-future value -other=1 -o x ./a ./b", Line{out: "x"}, "build -o OUT -future value -other=1 ./a ./b"},
		{"./a -o x -tags b", Line{out: "x"}, "build -o OUT ./a -tags b"},
		{"-o x -o y .", Line{out: "y"}, "build -o OUT ."},
		{"-v -C /src .", Line{}, "build -o OUT -v -C /src ."},
		{"-overlay o.json .", Line{overlay: "o.json"}, "build -o OUT -overlay o.json ."},
		{"--optimize -race -no-watch=false .", Line{link: link.Options{Optimize: true}}, "build -o OUT -race ."},
		{"--help", Line{Help: true}, "build -o OUT"},
	}
	for _, tt := range tests {
		got, err := Parse(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if args := strings.Join(got.build("OUT"), " "); args != tt.build {
			t.Errorf("%s: go %s, want go %s", tt.args, args, tt.build)
		}
		got.args = nil
		if d := gocmp.Diff(&tt.want, got, gocmp.AllowUnexported(Line{})); d != "" {
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
		in, name, err := (&Line{dir: dir, out: tt.out}).output()
		got := filepath.Join(in, cmp.Or(name, "server"))
		if want := filepath.Join(dir, tt.want); err != nil || got != want {
			t.Errorf("-o %q: %s, %v; want %s", tt.out, got, err, want)
		}
	}
}

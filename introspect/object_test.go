package introspect

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// nm returns a file's package-level variables and functions from go tool nm.
func nm(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	out, err := exec.Command("go", "tool", "nm", path).CombinedOutput()
	if err != nil {
		t.Fatalf("go tool nm %s: %v\n%s", path, err, out)
	}
	symbols := map[string]uint64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && strings.ContainsAny(f[1], "dDbBtT") {
			if symbols[f[2]], err = strconv.ParseUint(f[0], 16, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return symbols
}

// ELF files have our symbols where go tool nm has them.
func TestFormats(t *testing.T) {
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "386"}, {"linux", "s390x"}, {"freebsd", "amd64"}} {
		t.Run(platform[0]+"-"+platform[1], func(t *testing.T) {
			if testing.Short() && (platform[0] == "freebsd" || platform[1] != "amd64") {
				t.Skip("needs the standard library built once more")
			}
			t.Setenv("GOOS", platform[0])
			t.Setenv("GOARCH", platform[1])
			path := gobuild.Build(t, gobuild.Config{}, "testdata/points")
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			o, err := open(platform[0], f)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("GOOS", runtime.GOOS)
			t.Setenv("GOARCH", runtime.GOARCH)
			want := nm(t, path)
			points := map[uintptr]declaration{}
			names := []string{"main.start", "main.evict", "main.verbose", ownPath + "/testdata/points/v3%2ex.Start", ownPath + ".landmark"}
			for _, name := range names {
				if want[name] == 0 {
					t.Fatalf("go tool nm has no %s", name)
				}
				points[uintptr(want[name])] = declaration{}
			}
			o.variables(points, 0)
			for _, name := range names {
				if got := points[uintptr(want[name])].symbol; got != name {
					t.Errorf("at 0x%x, which is %s, lies %q", want[name], name, got)
				}
			}
		})
	}
}

// Other platforms have executables that are not read.
func TestUnsupported(t *testing.T) {
	for _, goos := range []string{"aix", "darwin", "ios", "js", "plan9", "wasip1", "windows"} {
		if o, err := open(goos, strings.NewReader("")); o != nil || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), goos) {
			t.Errorf("%s: %v, error %v", goos, o, err)
		}
	}
}

func TestSplitSymbol(t *testing.T) {
	for symbol, want := range map[string][2]string{
		"main.start":                    {"main", "start"},
		"net/http.start+8":              {"net/http", "start+8"},
		"gopkg.in/yaml%2ev3.start":      {"gopkg.in/yaml.v3", "start"},
		"example.org/a.b/c.start.local": {"example.org/a.b/c", "start.local"},
		"":                              {"", ""},
	} {
		if pkg, variable := splitSymbol(symbol); [2]string{pkg, variable} != want {
			t.Errorf("%q is %q in %q, want %q", symbol, variable, pkg, want)
		}
	}
}

// An unreadable file, or another program's, is an error with the reason.
func TestWrongExecutable(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("has ELF files")
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"+strings.Repeat("\n", 1<<10)), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		want error
		text string
	}{
		{filepath.Join(dir, "gone"), os.ErrNotExist, ""},
		{text, nil, "bad magic"},
		{gobuild.Build(t, gobuild.Config{}, "testdata/points"), errOther, ""},
	} {
		known, err := readPath(tt.path, []Point{{Address: 1}})
		if err == nil || known != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, error %v, want %v %q", tt.path, known, err, tt.want, tt.text)
		}
	}
}

func FuzzOpen(f *testing.F) {
	exe, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		f.Add(exe[:min(len(exe), 1<<12)])
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, goos := range []string{"linux", "windows"} {
			if o, err := open(goos, bytes.NewReader(data)); err == nil {
				_, _ = o.find([]Point{{Address: 1 << 20}})
			}
		}
	})
}

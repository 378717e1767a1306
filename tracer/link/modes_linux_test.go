package link

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// armed is a program, or an archive for C programs, that arms its marker and marks it.
const armed = `package main

import "C"

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
)

var hit = marker.New1[int]("modes:hit", "n %d")

//export run
func run() {
	if _, err := hit.Register(func(n int) { fmt.Println("hit", n) }); err != nil {
		panic(err)
	}
	if err := hit.Arm(); err != nil {
		fmt.Println(err)
	}
	hit.Mark(7)
}

func main() { run() }
`

func buildArmed(t *testing.T, c gobuild.Config, text string, mode string) string {
	t.Helper()
	c.Flags = []string{gobuild.Overlay(t, t.TempDir(), "testdata/nomarkers/main.go", text), "-buildmode=" + mode}
	return gobuild.Build(t, c, "testdata/nomarkers")
}

// A C executable with an archive of Go code is an executable: its file has the sites. A library with one is not.
func TestArchives(t *testing.T) {
	peer.Need(t, "gcc")
	archive := buildArmed(t, gobuild.Config{External: true}, armed, "c-archive")
	dir := t.TempDir()
	source := filepath.Join(dir, "main.c")
	if err := os.WriteFile(source, []byte("extern void run(void);\nint main(void) { run(); return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags   string
		library bool
	}{{"-pie -fPIE", false}, {"-no-pie", false}, {"-static-pie -fPIE", false}, {"-shared -fPIC", true}} {
		t.Run(tt.flags, func(t *testing.T) {
			path := filepath.Join(dir, "a.out")
			if out, err := exec.Command("gcc", append(strings.Fields(tt.flags), "-o", path, source, archive, "-lpthread")...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			report, err := File(path, "", Options{Optimize: true})
			if tt.library {
				if !errors.Is(err, ErrNotExecutable) {
					t.Errorf("a library: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Sites) != 1 || !report.Sites[0].Optimized {
				t.Errorf("sites %+v", report.Sites)
			}
			if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != "hit 7\n" {
				t.Errorf("%v, %q", err, out)
			}
		})
	}
}

func TestPluginsAreRefused(t *testing.T) {
	peer.Need(t, "gcc")
	path := buildArmed(t, gobuild.Config{External: true}, armed, "plugin")
	if _, err := File(path, "", Options{}); !errors.Is(err, ErrPlugin) {
		t.Errorf("%v", err)
	}
}

// In a directory tree without /proc the sites cannot be patched. The error names the cause.
func TestWithoutProc(t *testing.T) {
	peer.Root(t)
	path := buildArmed(t, gobuild.Config{}, strings.Replace(strings.Replace(armed, "import \"C\"\n", "", 1), "//export run\n", "", 1), "exe")
	if _, err := File(path, "", Options{Optimize: true}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/" + filepath.Base(path))
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: filepath.Dir(path)}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "opening /proc/self/exe") || !strings.Contains(text, "mount /proc") || strings.Contains(text, "changed after") {
		t.Errorf("%v, %s", err, text)
	}
}

package archtest

import (
	"os"
	"path/filepath"
	"testing"
)

// platforms are of every family that differs: another operating system, no operating system,
// 32 bits, another byte order, other error numbers and sizes of the kernel. The first ones are tried in short mode too.
var platforms = [][2]string{
	{"linux", "arm64"},
	{"windows", "amd64"},
	{"darwin", "arm64"},
	{"js", "wasm"},
	{"linux", "386"},
	{"linux", "s390x"},
	{"freebsd", "amd64"},
	{"linux", "mips"},
	{"plan9", "amd64"},
	{"linux", "amd64"}, // vet compiles everything for it with the newest Go; the oldest one type-checks it
}

const shortPlatforms = 2

// TestBuildsEverywhere type-checks everything for every platform. It compiles packages with assembly and links a program,
// because the assembler and the linker alone see a function that only assembly of another platform defines.
// WAYMARK_CROSS=all compiles and vets everything for every platform, which takes ten minutes.
func TestBuildsEverywhere(t *testing.T) {
	list := platforms
	if testing.Short() {
		list = list[:shortPlatforms]
	}
	for _, p := range list {
		t.Run(p[0]+"/"+p[1], func(t *testing.T) {
			// testscript, which tests of commands use, does not build for plan9.
			tests := p[0] != "plan9"
			count, assembly := typeCheck(t, p[0], p[1], tests)
			t.Logf("%d packages and tests are well typed, %d packages have assembly", count, len(assembly))
			golang(t, p[0], p[1], append([]string{"build"}, assembly...)...)
			golang(t, p[0], p[1], "build", "-o", filepath.Join(t.TempDir(), "minimal"), "./examples/minimal")
			if os.Getenv("WAYMARK_CROSS") == "all" {
				golang(t, p[0], p[1], "build", "work")
				if tests {
					golang(t, p[0], p[1], "vet", "-copylocks", "work")
				}
			}
		})
	}
}

package archtest

import (
	"path/filepath"
	"testing"
)

// platforms are of every family that differs: another operating system, no operating system,
// 32 bits, another byte order, other error numbers and sizes in what the kernel says. The first ones are tried in short mode too.
var platforms = [][2]string{
	{"linux", "arm64"},
	{"windows", "amd64"},
	{"darwin", "arm64"},
	{"js", "wasm"},
	{"linux", "386"},
	{"linux", "s390x"},
	{"freebsd", "amd64"},
	{"linux", "mips"},
}

const shortPlatforms = 2

func TestBuildsEverywhere(t *testing.T) {
	list := platforms
	if testing.Short() {
		list = list[:shortPlatforms]
	}
	for _, p := range list {
		t.Run(p[0]+"/"+p[1], func(t *testing.T) {
			golang(t, p[0], p[1], "build", "./...")
			// The linker alone sees a function that only assembly of another platform defines.
			golang(t, p[0], p[1], "build", "-o", filepath.Join(t.TempDir(), "minimal"), "./examples/minimal")
			// Type checks the tests as well; one analyzer is enough for that.
			golang(t, p[0], p[1], "vet", "-copylocks", "./...")
		})
	}
	if !testing.Short() { // testscript, which tests of commands use, does not build for it
		t.Run("plan9/amd64", func(t *testing.T) { golang(t, "plan9", "amd64", "build", "./...") })
	}
}

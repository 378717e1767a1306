// Package peer finds the programs and privileges that tests of the real thing need.
//
// Without them a test is skipped and says why. With WAYMARK_REQUIRE_PEERS=1, as scripts/test
// sets it, it fails instead: a suite that skips what it exists for proves nothing.
package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Root requires Linux and the root user.
func Root(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		Missing(t, "root on Linux")
	}
}

// Need requires programs, by name in PATH or by path, and returns where they are.
func Need(t testing.TB, programs ...string) []string {
	t.Helper()
	paths := make([]string, len(programs))
	for i, program := range programs {
		path, err := exec.LookPath(program)
		if err != nil {
			Missing(t, ""+program+": "+err.Error())
		}
		paths[i] = path
	}
	return paths
}

// Header requires a C header below an include directory, such as sys/sdt.h of systemtap-sdt-dev.
func Header(t testing.TB, name string) {
	t.Helper()
	for _, pattern := range []string{"/usr/include/" + name, "/usr/include/*/" + name} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
	}
	Missing(t, "the C header "+name)
}

// Missing says that a test needs something that is not there.
func Missing(t testing.TB, what string) {
	t.Helper()
	why := "needs " + what
	if os.Getenv("WAYMARK_REQUIRE_PEERS") == "1" {
		t.Fatal(why + " (WAYMARK_REQUIRE_PEERS=1)")
	}
	t.Skip(why)
}

package marker_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// A program that has markers and is never traced holds the same resources as one without.
func TestNeverTraced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("built for Linux")
	}
	for _, v := range gobuild.Versions {
		t.Run(v, func(t *testing.T) {
			without := holds(t, gobuild.Config{Go: v})
			with := holds(t, gobuild.Config{Go: v, Flags: []string{"-tags=marked"}})
			if with != without {
				t.Errorf("goroutines, allocations before and in main, lowest free file descriptor: %s with markers, %s without", with, without)
			}
		})
	}
}

// holds returns the smallest of many readings: the runtime's own background work allocates.
func holds(t *testing.T, c gobuild.Config) (least string) {
	path := gobuild.Build(t, c, "testdata/idle")
	for range 30 {
		cmd := exec.Command(path)
		cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		// As numbers in text of one width, so that the smallest sorts first.
		s := regexp.MustCompile(`\d+`).ReplaceAllStringFunc(string(out), func(n string) string { return fmt.Sprintf("%8s", n) })
		if least == "" || s < least {
			least = s
		}
	}
	return least
}

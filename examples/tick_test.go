package examples

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// buildTick compiles the C program, with flags in addition to -O2.
func buildTick(t *testing.T, flags ...string) string {
	t.Helper()
	peer.Need(t, "gcc")
	peer.Header(t, "sys/sdt.h")
	out := filepath.Join(t.TempDir(), "tick")
	args := append([]string{"-O2", "-Wall", "-Wextra", "-Werror"}, flags...)
	if text, err := exec.Command("gcc", append(args, "-o", out, "tick/tick.c")...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, text)
	}
	return out
}

func TestTickPassesItsGuardOnlyWhenTraced(t *testing.T) {
	out, err := exec.Command(buildTick(t), "3", "0").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), "hi: 0\nhi: 1\nhi: 2\nloop1 3 loop2 0\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTickGuardsLoop2Alone(t *testing.T) {
	peer.Need(t, "readelf")
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie", "-fno-pie"}} {
		notes, err := exec.Command("readelf", "-n", buildTick(t, flags...)).Output()
		if err != nil {
			t.Fatal(err)
		}
		counter := regexp.MustCompile(`Name:\s+(\w+)\s+Location:\s+0x\w+,\s+Base:\s+0x\w+,\s+Semaphore:\s+0x0*(\w+)`)
		got := make(map[string]bool)
		for _, m := range counter.FindAllStringSubmatch(string(notes), -1) {
			got[m[1]] = m[2] != "0"
		}
		if len(got) != 2 || got["loop1"] || !got["loop2"] {
			t.Errorf("%s: readelf says of counters: %v; want loop1 without and loop2 with one\n%s",
				strings.Join(flags, " "), got, notes)
		}
	}
}

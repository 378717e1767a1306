package link

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// What testdata/refused prints where sites can be patched, and where they cannot: then nothing is
// switched, and the program goes on.
const (
	works = `start works hits 0 taken 2
arm works hits 1 taken 2
arm again works hits 1 taken 2
trace works hits 11 taken 2
enable works hits 11 taken 3
disable works hits 11 taken 1
traced works hits 11 taken 1
problems 0
`
	refused = `start works hits 0 taken 2
arm fails hits 0 taken 2
arm again fails hits 0 taken 2
trace fails hits 0 taken 2
enable fails hits 0 taken 2
disable fails hits 0 taken 2
traced works hits 0 taken 2
problems 1
`
)

func runRefused(t *testing.T, path, arg, want string) (stderr string) {
	t.Helper()
	cmd := exec.Command(path, arg)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &complaint)
	}
	if d := cmp.Diff(want, string(out)); d != "" {
		t.Errorf("%s (-want +got):\n%s", arg, d)
	}
	return complaint.String()
}

// A program that may not write its own code says so, and does what it did. One without membarrier
// stops the world instead.
func TestRefusedBySeccomp(t *testing.T) {
	_, path, _ := optimize(t, gobuild.Config{}, "refused")
	runRefused(t, path, "nothing", works)
	runRefused(t, path, "membarrier", works)
	runRefused(t, path, "pwrite64", refused)
	runRefused(t, path, "openat", refused)
}

// strip moves the site table, and the program finds it again.
func TestStripAfterwards(t *testing.T) {
	strip := peer.Need(t, "strip")[0]
	for _, c := range []gobuild.Config{{}, {PIE: true}, {External: true}} {
		t.Run(c.String(), func(t *testing.T) {
			_, path, report := optimize(t, c, "refused")
			for _, s := range report.Sites {
				if !s.Optimized {
					t.Errorf("%s in %s: %s", s.Name, s.Function, s.Why)
				}
			}
			if out, err := exec.Command(strip, path).CombinedOutput(); err != nil {
				t.Fatalf("strip: %v\n%s", err, out)
			}
			runRefused(t, path, "nothing", works)
			again, err := File(path, "", Options{Optimize: true})
			if err != nil || len(again.Sites) != len(report.Sites) {
				t.Errorf("linking again behind strip: %v", err)
			}
			runRefused(t, path, "nothing", works)
		})
	}
}

// A site table that is gone or damaged is told once, at the start, and by whatever arms.
func TestTableGone(t *testing.T) {
	objcopy := peer.Need(t, "objcopy")[0]
	_, path, _ := optimize(t, gobuild.Config{}, "refused")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := openImage(data)
	if err != nil {
		t.Fatal(err)
	}
	table := le.Uint64(img.at(img.anchor.addr+markerabi.OffSites, 8))
	without := filepath.Join(t.TempDir(), "without")
	if out, err := exec.Command(objcopy, "--remove-section", markerabi.SitesSection, path, without).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	write := func(name string, change func(data []byte) []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, change(append([]byte(nil), data...)), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	told := strings.Replace(refused, "problems 1", "problems 0", 1) // before main could be asked to be told
	for _, path := range []string{
		without,
		write("cut", func(data []byte) []byte { return data[:table+40] }),
		write("magic", func(data []byte) []byte { data[table]++; return data }),
		write("count", func(data []byte) []byte { data[table+markerabi.OffSitesCount]++; return data }),
		write("site", func(data []byte) []byte { data[table+markerabi.SitesHeaderSize+5]++; return data }),
		write("word", func(data []byte) []byte {
			data[table+markerabi.SitesHeaderSize+markerabi.OffSiteWord+5]++
			return data
		}),
		write("anchor", func(data []byte) []byte { data[table+markerabi.OffSitesAnchor+5]++; return data }),
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if stderr := runRefused(t, path, "nothing", told); strings.Count(stderr, "waymark: ") != 1 {
				t.Errorf("not told once: %q", stderr)
			}
		})
	}
}

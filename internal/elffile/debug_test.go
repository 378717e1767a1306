package elffile

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
)

// pathsOf is debugPaths of a file at a path.
func pathsOf(path, id, link string) []string {
	return debugPaths(processRoot(path), filepath.Dir(path), id, link)
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		path, id, link string
		want           []string
	}{
		{"/bin/p", "", "", nil},
		{"/bin/p", "abcd", "", []string{"/usr/lib/debug/.build-id/ab/cd.debug"}},
		{"/bin/p", "ab", "p.debug", []string{"/bin/p.debug", "/bin/.debug/p.debug", "/usr/lib/debug/bin/p.debug"}},
		{"/proc/7/root/bin/p", "abcd", "p.debug", []string{
			"/proc/7/root/usr/lib/debug/.build-id/ab/cd.debug", "/usr/lib/debug/.build-id/ab/cd.debug",
			"/proc/7/root/bin/p.debug", "/proc/7/root/bin/.debug/p.debug",
			"/proc/7/root/usr/lib/debug/bin/p.debug", "/usr/lib/debug/bin/p.debug",
		}},
		{"/proc/self/p", "", "p.debug", []string{"/proc/self/p.debug", "/proc/self/.debug/p.debug", "/usr/lib/debug/proc/self/p.debug"}},
	} {
		if d := diff.Of(c.want, pathsOf(c.path, c.id, c.link)); d != "" {
			t.Errorf("Paths(%q, %q, %q) (-want +got)\n%s", c.path, c.id, c.link, d)
		}
	}
}

func TestLink(t *testing.T) {
	for section, want := range map[string]string{
		"": "", "p": "", "\x00\x00\x00\x00\x01\x02\x03\x04": "", "p.debug\x00\x01\x02\x03\x04": "p.debug", "p.debug\x00\x01\x02\x03": "",
		"pq.debug\x00\x00\x00\x00\x01\x02\x03\x04": "pq.debug", "pq.debug\x00\x01\x02\x03\x04": "",
		"..\x00\x00\x01\x02\x03\x04": "", ".\x00\x00\x00\x01\x02\x03\x04": "", "a/b\x00\x01\x02\x03\x04": "",
	} {
		name, sum := debugLink([]byte(section), binary.LittleEndian)
		if name != want || (sum == 0x04030201) != (want != "") {
			t.Errorf("Link(%q) = %q, %#x, want %q", section, name, sum, want)
		}
	}
}

// The checksum of "123456789" is what every description of CRC-32 gives.
// hasSum calls Image.hasSum for data that need not be an ELF file.
func hasSum(r interface {
	io.ReaderAt
	Size() int64
}, sum uint32) bool {
	im := Image{r: r, size: uint64(r.Size()), budget: budgetOf(r.Size(), r.Size())}
	return im.hasSum(sum)
}

func TestHasSum(t *testing.T) {
	if r := strings.NewReader("123456789"); !hasSum(r, 0xcbf43926) || hasSum(r, 0xcbf43927) || hasSum(bytes.NewReader(nil), 1) {
		t.Error("not the checksum")
	}
}

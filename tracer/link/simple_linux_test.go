package link

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// buildSimple returns a small program with simple markers alone.
func buildSimple(t testing.TB) []byte {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("links x86-64 Linux programs")
	}
	path := filepath.Join(t.TempDir(), "scsi")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-compressdwarf=false", "-o", path, "../../examples/scsi_go")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A program without markers of package marker is linked for its simple ones: nothing but the
// end of the file and the place of its section headers changes, and linking again changes nothing.
func TestLinkSimple(t *testing.T) {
	data := buildSimple(t)
	o := Options{Built: time.Now()}
	linked, report, err := Link(data, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Simple) != 2 || len(report.Warnings) > 0 || report.Simple[0].Place.Rule != section.Next {
		t.Fatalf("%+v", report)
	}
	before, after := bytes.Clone(data), linked[:len(data)]
	clear(before[ehdrShoff : ehdrShoff+8])
	clear(before[ehdrShnum : ehdrShnum+2])
	after = bytes.Clone(after)
	clear(after[ehdrShoff : ehdrShoff+8])
	clear(after[ehdrShnum : ehdrShnum+2])
	if !bytes.Equal(before, after) {
		t.Error("link changed what is loaded")
	}
	again, _, err := Link(linked, o)
	if err != nil || !bytes.Equal(again, linked) {
		t.Errorf("linking again: %v, equal: %t", err, bytes.Equal(again, linked))
	}
	// What it found holds when the sources have gone on.
	again, _, err = Link(linked, Options{Built: time.Unix(0, 0)})
	if err != nil || !bytes.Equal(again, linked) {
		t.Errorf("linking again with younger sources: %v, equal: %t", err, bytes.Equal(again, linked))
	}
	if _, _, err := Link(data, Options{Built: time.Unix(0, 0)}); err == nil || !strings.Contains(err.Error(), "was changed at") {
		t.Errorf("linking with younger sources: %v", err)
	}
}

// A file that is cut off, or whose debugging information is damaged, costs an error and no more.
func TestLinkSimpleHostile(t *testing.T) {
	data := buildSimple(t)
	o := Options{Built: time.Now()}
	for n := 0; n < len(data); n += len(data)/40 + 1 {
		if _, _, err := Link(data[:n], o); err == nil {
			t.Errorf("linked the first %d of %d bytes", n, len(data))
		}
	}
}

// FuzzLinkSimple damages the debugging information of a program.
func FuzzLinkSimple(f *testing.F) {
	data := buildSimple(f)
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	var sections []*elf.Section
	for _, name := range []string{".debug_info", ".debug_line", ".debug_abbrev", ".debug_rnglists", ".debug_addr"} {
		if s := file.Section(name); s != nil {
			sections = append(sections, s)
		}
	}
	if len(sections) < 3 {
		f.Fatal("no debugging information")
	}
	for i := range sections {
		f.Add(byte(i), uint32(40), []byte{0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, section byte, at uint32, patch []byte) {
		bad := bytes.Clone(data)
		s := sections[int(section)%len(sections)]
		begin := s.Offset + uint64(at)%s.FileSize
		copy(bad[begin:s.Offset+s.FileSize], patch)
		linked, _, err := Link(bad, Options{Built: time.Now()})
		if err != nil {
			return
		}
		if _, _, err := Link(linked, Options{Built: time.Now()}); err != nil {
			t.Errorf("linking again: %v", err)
		}
	})
}

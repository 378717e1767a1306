package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
)

// storm is a program with some processes, and where its markers are.
type storm struct {
	path  string
	file  *sdt.File
	pids  []int
	first []*mapped // by process
}

// mapped is where a process has what a probe changes.
type mapped struct {
	memory   *os.File
	counters []int64
	sites    []int64
	code     [][]byte // at sites, before anybody attached
}

const (
	stormProcesses = 3
	// codeSize covers every instruction that the kernel puts in place of a nop.
	codeSize = 16
)

func newStorm(t *testing.T, path string, args ...string) *storm {
	t.Helper()
	f, err := sdt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &storm{path: path, file: f}
	for range stormProcesses {
		cmd := exec.Command(path, args...)
		in, err := cmd.StdinPipe() // what -hold waits for
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
		s.pids = append(s.pids, cmd.Process.Pid)
	}
	for _, pid := range s.pids {
		s.first = append(s.first, s.look(t, pid))
	}
	return s
}

func (s *storm) look(t *testing.T, pid int) *mapped {
	t.Helper()
	var m mapped
	var err error
	if m.memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", pid)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.memory.Close() })
	address := func(offset uint64) (uint64, bool) {
		maps, err := procfs.Maps(pid)
		if err != nil {
			t.Fatal(err)
		}
		return s.place(maps, offset)
	}
	first := &s.file.Sites[0]
	eventually(t, "the program is loaded", func() bool { _, ok := address(uint64(first.Offset)); return ok })
	for i := range s.file.Sites {
		site := &s.file.Sites[i]
		at, ok := address(uint64(site.Offset))
		if !ok {
			t.Fatalf("site of %s is not mapped", site.Name)
		}
		m.sites = append(m.sites, int64(at))
		m.code = append(m.code, m.read(t, int64(at), codeSize))
		if site.CounterOffset == 0 {
			continue
		}
		if at, ok = address(uint64(site.CounterOffset)); !ok {
			t.Fatalf("counter of %s is not mapped", site.Name)
		}
		m.counters = append(m.counters, int64(at))
	}
	return &m
}

// place returns where a process maps an offset of the file as its own code or data.
func (s *storm) place(maps []procfs.Mapping, offset uint64) (at uint64, ok bool) {
	for i := range maps {
		if maps[i].Path == s.path {
			if at, ok = procfs.Address(maps[i:i+1], maps[i].File(), offset); ok && (maps[i].Executable || maps[i].Writable) {
				return at, true
			}
		}
	}
	return 0, false
}

func (m *mapped) read(t *testing.T, at int64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(m.memory, at, int64(n)), b); err != nil {
		t.Fatalf("reading the program at %#x: %v", at, err)
	}
	return b
}

// raised is how many counters of all processes are not zero.
func (s *storm) raised(t *testing.T) (n int) {
	for _, m := range s.first {
		for _, at := range m.counters {
			if b := m.read(t, at, 2); b[0] != 0 || b[1] != 0 {
				n++
			}
		}
	}
	return n
}

// manyMarkers builds a program whose n markers each have a counter, and are hit while it is up.
func manyMarkers(t *testing.T, gcc string, n int) string {
	t.Helper()
	var declared, hit strings.Builder
	for i := range n {
		fmt.Fprintf(&declared, "unsigned short storm_m%d_semaphore __attribute__((section(\".probes\")));\n", i)
		fmt.Fprintf(&hit, "\tif (storm_m%d_semaphore) STAP_PROBE1(storm, m%[1]d, i);\n", i)
	}
	source := fmt.Sprintf("#define _SDT_HAS_SEMAPHORES 1\n#include <sys/sdt.h>\n#include <unistd.h>\n%s"+
		"int main(void) { for (long i = 0;; i++) {\n%s\tusleep(1000);\n} }\n", &declared, &hit)
	path := filepath.Join(t.TempDir(), "storm")
	if err := os.WriteFile(path+".c", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, gcc, "-O2", "-o", path, path+".c")
	return path
}

package e2e

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
	"github.com/waymark-trace/waymark/tracer/link"
)

// floor are the markers of simplego that must have a place in every build: what stands for them
// is as it is in most programs.
var floor = []string{
	"a:anchored", "a:case", "a:choose", "a:empty", "a:forever", "a:generic", "a:iterates", "a:literal", "a:loop", "a:many", "a:outer", "a:received", "a:yield",
	"c:call_bounds", "c:error", "c:fallen", "c:generic", "c:gone_over", "c:inlined_call", "c:interface", "c:iterates", "c:multi", "c:otherwise", "c:send", "c:store", "c:values",
}

// Each time a simple marker of a Go program is passed one of the addresses that link gives it is
// executed, and at no other time: the kernel counts one, the program itself the other, with a
// package in the place of simple that counts. Those without a place say why.
func TestSimpleGoIsExact(t *testing.T) {
	peer.Root(t)
	configs := []gobuild.Config{
		{Go: gobuild.Versions[0]}, {Go: gobuild.Versions[1]}, {Go: gobuild.Versions[1], PIE: true, Flags: []string{"-trimpath"}},
		{Go: gobuild.Versions[0], Flags: []string{"-gcflags=all=-N -l"}}, {Go: gobuild.Versions[1], Flags: []string{"-gcflags=-l"}},
		{Go: gobuild.Versions[1], Flags: []string{"-gcflags=-N"}},
	}
	for _, c := range configs {
		t.Run(c.String(), func(t *testing.T) {
			const dir = "testdata/simplego"
			sources, err := filepath.Glob(dir + "/*.go")
			if err != nil {
				t.Fatal(err)
			}
			counting := map[string]string{}
			for _, name := range sources {
				source, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				counting[name] = strings.Replace(string(source), `"github.com/waymark-trace/waymark/simple"`,
					`simple "github.com/waymark-trace/waymark/tracer/e2e/testdata/simplego/counted"`, 1)
			}
			want := simplePasses(t, gobuild.Build(t, gobuild.Config{Go: c.Go, Flags: []string{gobuild.Overlays(t, t.TempDir(), counting)}}, dir))

			path := gobuild.Build(t, c, dir)
			report, err := link.File(path, "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Warnings) > 0 {
				t.Error(report.Warnings)
			}
			places := make(map[string]section.Place)
			for _, m := range report.Simple {
				if m.Dropped != (m.Name == "c:dropped" && c.Flags == nil) && m.Name != "c:dropped" {
					t.Errorf("%s: dropped: %t", m.Name, m.Dropped)
				}
				places[m.Name] = m.Place
			}
			if len(places) < 80 {
				t.Fatalf("link found %d markers", len(places))
			}
			got := simpleHits(t, path, places)
			placed := 0
			for name, p := range places {
				if p.Rule == section.Nowhere {
					t.Logf("%s has no place: %s", name, p.Reason)
					continue
				}
				placed++
				if got[name] != want[name] {
					t.Errorf("%s was passed %d times and hit %d times at %x (%s, line %d)", name, want[name], got[name], p.Addresses, p.Rule, p.Line)
				}
			}
			t.Logf("%d of %d markers have a place", placed, len(places))
			if slices.Contains(c.Flags, "-gcflags=-N") {
				return // it stores what it does not need
			}
			for _, name := range floor {
				if places[name].Rule == section.Nowhere || places[name].Addresses == nil {
					t.Errorf("%s has no place: %s", name, places[name].Reason)
				}
			}
		})
	}
}

// simplePasses runs a program that prints how often it passed each marker.
func simplePasses(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	out, err := exec.Command(path).Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if counts[f[0]], err = strconv.ParseUint(f[1], 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if len(counts) < 70 {
		t.Fatalf("the program passed %d markers only", len(counts))
	}
	return counts
}

// simpleHits runs a program with a probe of the kernel's at each address of each place, and returns
// how often those of each name were hit.
func simpleHits(t *testing.T, path string, places map[string]section.Place) map[string]uint64 {
	t.Helper()
	const tracing = "/sys/kernel/tracing/"
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	group := fmt.Sprintf("waymark_simple_%d", os.Getpid())
	var define, remove bytes.Buffer
	names := make(map[string]string) // by event
	for name, p := range places {
		for _, a := range p.Addresses {
			event := fmt.Sprintf("s%d_%d", os.Getpid(), len(names))
			names[event] = name
			fmt.Fprintf(&define, "p:%s/%s %s:0x%x\n", group, event, path, offset(t, file, a))
			fmt.Fprintf(&remove, "-:%s/%s\n", group, event)
		}
	}
	appendTo := func(name string, text []byte) error {
		f, err := os.OpenFile(filepath.Join(tracing, name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		for line := range bytes.Lines(text) {
			if _, err := f.Write(line); err != nil {
				return fmt.Errorf("%s: %s: %w", name, line, err)
			}
		}
		return nil
	}
	enable := filepath.Join("events", group, "enable")
	t.Cleanup(func() {
		if err := appendTo(enable, []byte("0\n")); err != nil {
			t.Error(err)
		}
		if err := appendTo("uprobe_events", remove.Bytes()); err != nil {
			t.Error(err)
		}
	})
	if err := appendTo("uprobe_events", define.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := appendTo(enable, []byte("1\n")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	profile, err := os.ReadFile(tracing + "uprobe_profile")
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for line := range strings.Lines(string(profile)) {
		f := strings.Fields(line)
		if len(f) < 3 || names[f[1]] == "" {
			continue
		}
		n, err := strconv.ParseUint(f[2], 10, 64)
		if err != nil || len(f) > 3 && f[3] != "0" {
			t.Fatalf("uprobe_profile says %q", line)
		}
		counts[names[f[1]]] += n
	}
	return counts
}

// offset returns where in a file an address is.
func offset(t *testing.T, file *elf.File, addr uint64) uint64 {
	t.Helper()
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off
		}
	}
	t.Fatalf("address 0x%x is not in the file", addr)
	return 0
}

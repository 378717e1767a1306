package tracer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
)

func fullNames(markers []*Marker) []string {
	var names []string
	for _, m := range markers {
		names = append(names, m.FullName())
	}
	slices.Sort(names)
	return names
}

var tickNames = []string{"sdt_tick:args", "sdt_tick:bare", "sdt_tick:loop1", "sdt_tick:loop2"}

func TestFind(t *testing.T) {
	path := tick(t)
	p := startTick(t, path, 1)
	for name, target := range map[string]Target{
		"path": Path(path), "PID": PIDs(p.PID()),
	} {
		t.Run(name, func(t *testing.T) {
			markers := mustFind(t, target)
			if diff := cmp.Diff(tickNames, fullNames(markers)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			for _, m := range markers {
				if m.File.Path != path || len(m.File.Problems) > 0 || m.Typed {
					t.Errorf("%s: in %s, typed %t, problems %v", m.FullName(), m.File.Path, m.Typed, m.File.Problems)
				}
				if m.Counted != (m.Name != "bare") {
					t.Errorf("%s: counted is %t", m.FullName(), m.Counted)
				}
				if m.Name != "args" {
					continue
				}
				want := []event.Kind{event.Int32, event.Uint8, event.Int8, event.Int32, event.Int32, event.Int16, event.Int32, event.Int64}
				var got []event.Kind
				for _, f := range m.Fields {
					got = append(got, f.Kind)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("kinds (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// copyTick returns a copy that a test may delete or replace.
func copyTick(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(tick(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tick\n(deleted) copy")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A program keeps its markers when its file is deleted, or another takes its place, even
// under a name that the kernel has to escape.
func TestFindDeleted(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
	}{
		{"deleted", func(*testing.T, string) {}},
		{"replaced", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := copyTick(t)
			p := startTick(t, path, 50)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			test.change(t, path)
			target := PIDs(p.PID())
			markers := mustFind(t, target)
			if diff := cmp.Diff(tickNames, fullNames(markers)); diff != "" {
				t.Fatalf("names (-want +got):\n%s", diff)
			}
			if got := markers[0].File.Path; got != path {
				t.Errorf("path is %q, want %q", got, path)
			}
			c, err := Count(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			p.run()
			p.Expect("done 50")
			if got := hits(t, c)["loop2"]; got != 50 {
				t.Errorf("counted %d of 50", got)
			}
		})
	}
}

func TestFindAll(t *testing.T) {
	path := tick(t)
	first, second := startTick(t, path, 1), startTick(t, path, 1)
	all, err := FindAll(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]Process{}
	for _, p := range all {
		if _, twice := found[p.PID]; twice {
			t.Errorf("process %d is listed twice", p.PID)
		}
		found[p.PID] = p
	}
	a, b := found[first.PID()], found[second.PID()]
	for _, p := range []Process{a, b} {
		if diff := cmp.Diff(tickNames, fullNames(p.Markers)); diff != "" || p.Comm != "tick" || p.Err != nil {
			t.Errorf("process %d, %s, %v (-want +got):\n%s", p.PID, p.Comm, p.Err, diff)
		}
	}
	if len(a.Markers) > 0 && len(b.Markers) > 0 && a.Markers[0] != b.Markers[0] {
		t.Error("the file of two processes was read twice")
	}
	if _, ok := found[2]; ok {
		t.Error("a thread of the kernel is listed")
	}
	// What FindAll found can be attached to, in any of the processes.
	c, err := Count(PIDs(second.PID()), b.Markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeNow(t, c)
}

func TestFindErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		name   string
		target Target
		want   error
	}{
		{"no such file", Path(filepath.Join(dir, "none")), os.ErrNotExist},
		{"a directory", Path(dir), nil},
		{"a device", Path("/dev/zero"), nil},
		{"an empty file", Path(write("empty", "")), nil},
		{"a script", Path(write("script", "#!/bin/sh\n")), nil},
		{"a truncated program", Path(write("cut", "\x7fELF\x02\x01\x01")), nil},
		{"no such process", PIDs(1 << 30), ErrNoProcess},
		{"a thread of the kernel", PIDs(2), nil},
		{"a negative PID", PIDs(-1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			markers, err := Find(context.Background(), test.target)
			if err == nil {
				t.Fatalf("found %d markers", len(markers))
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			t.Log(err)
		})
	}
}

package e2e

import (
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// Whatever compilers make of a probe's arguments, they have the values that the program prints.
func TestCompilers(t *testing.T) {
	peer.Root(t)
	peer.Header(t, "sys/sdt.h")
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			path := peer.Need(t, compiler)[0]
			for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
				for _, pie := range []string{"-fPIE -pie", "-fno-pie -no-pie"} {
					flags := level + " " + pie
					t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
						program := filepath.Join(t.TempDir(), "types")
						run(t, path, append(strings.Fields(flags), "-o", program, "testdata/types.c", "-lm")...)
						compareTypes(t, program)
					})
				}
			}
		})
	}
}

// constant are the probes that have floating-point constants, and label is the reason why some
// of those cannot be read.
var (
	constant = regexp.MustCompile(`^(const|twelve)_[fd]$`)
	label    = regexp.MustCompile(`\.LC\w+ is a label of the compiler's`)
)

// compareTypes compares events with what the program printed, line by line.
func compareTypes(t *testing.T, program string) {
	t.Helper()
	lines, events := hits(t, program, "types:*", nil)
	if len(lines) != len(events) || len(events) < 500 {
		t.Fatalf("%d lines and %d events", len(lines), len(events))
	}
	values, constants := 0, 0
	for i, ev := range events {
		printed := strings.Fields(lines[i])
		if printed[0] != ev.Point.Name || len(ev.Values) != len(printed)-1 {
			t.Fatalf("event %d is of %s with %d values, line %q", i, ev.Point.Name, len(ev.Values), lines[i])
		}
		for j := range ev.Values {
			v, f := &ev.Values[j], &ev.Point.Fields[j]
			switch {
			case v.Err() != nil && f.Kind.IsFloat() && label.MatchString(v.Err().Error()) && constant.MatchString(ev.Point.Name):
				constants++ // only the compiler knows where it put that one
			case v.Err() != nil:
				t.Errorf("%s, argument %d: %v", ev.Point.Name, j+1, v.Err())
			case !sameValue(f, v, printed[j+1]):
				t.Errorf("%s, argument %d: got %#x as %v, want %s", ev.Point.Name, j+1, v.Bits(), f.Kind, printed[j+1])
			default:
				values++
			}
		}
	}
	t.Logf("%d values compared, %d constants refused", values, constants)
}

// Sites of one marker can pass different types, and one can have what another lacks.
func TestMixedTypes(t *testing.T) {
	peer.Root(t)
	peer.Header(t, "sys/sdt.h")
	program := filepath.Join(t.TempDir(), "mixed")
	run(t, peer.Need(t, "gcc")[0], "-O2", "-o", program, "testdata/mixed.c")
	lines, events := hits(t, program, "mixed:*", nil)
	if len(lines) != len(events) || len(events) != 19 {
		t.Fatalf("%d lines and %d events", len(lines), len(events))
	}
	for i, ev := range events {
		printed := strings.Fields(lines[i])
		v, f, number := &ev.Values[0], &ev.Point.Fields[0], printed[1]
		if printed[0] != ev.Point.Name || f.Unavailable != "" || !sameValue(&ev.Point.Fields[1], &ev.Values[1], printed[2]) {
			t.Errorf("event %d is of %s: %+v, %v, line %q", i, ev.Point.Name, ev.Values, f.Unavailable, lines[i])
		}
		if v.Err() != nil {
			if !strings.Contains(v.Err().Error(), "a size of 16 bytes") {
				t.Errorf("%s: %v", lines[i], v.Err())
			}
			continue
		}
		if v.Kind() == event.Float64 { // of a float32 too
			if n, err := parseFloat(number, 64); err != nil || math.Float64frombits(v.Bits()) != n {
				t.Errorf("%s: got %v", lines[i], math.Float64frombits(v.Bits()))
			}
		} else if !sameValue(f, v, number) {
			t.Errorf("%s: got %#x as %v in a field of %v", lines[i], v.Bits(), v.Kind(), f.Kind)
		}
	}
}

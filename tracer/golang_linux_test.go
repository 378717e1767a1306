package tracer

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// linked builds and links a Go program.
func linked(t *testing.T, c gobuild.Config, dir string) string {
	t.Helper()
	peer.Root(t)
	path := gobuild.Build(t, c, dir)
	if _, err := link.File(path, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// format prints a value as the test's program meant it.
func format(f event.Field, v event.Value) string {
	switch {
	case v.Err() != nil:
		return "error: " + v.Err().Error()
	case f.Kind.HasLength():
		return fmt.Sprintf("%q/%d", v.Bytes(), v.Len())
	case f.Kind.IsFloat() && f.Kind.Size() == 4:
		return fmt.Sprint(math.Float32frombits(uint32(v.Bits())))
	case f.Kind.IsFloat():
		return fmt.Sprint(math.Float64frombits(v.Bits()))
	case f.Kind.Signed():
		return fmt.Sprint(int64(v.Bits()))
	}
	return fmt.Sprint(v.Bits())
}

func formatEvent(e *event.Event) string {
	s := e.Point.FullName()
	for i, f := range e.Point.Fields {
		s += fmt.Sprintf(" %s=%s", f.Name, format(f, e.Values[i]))
	}
	return s
}

// wantKinds is what pass i of tracer/link/testdata/allkinds marks.
func wantKinds(i int) []string {
	return []string{
		"kinds:none",
		fmt.Sprintf("kinds:signed i=%d i8=-8 i16=-16 i32=-32 i64=-64", -1-i),
		fmt.Sprintf("kinds:unsigned u=%d u8=200 u16=60000 u32=4000000000 u64=18446744073709551615", i),
		fmt.Sprintf("kinds:floats f32=1.5 f64=-2.25 yes=%d", i%2),
		`kinds:texts s="a text"/6 b="raw\x00bytes"/9`,
		`kinds:named status=-5 label="label"/5 blob="blob"/4`,
		"kinds:address u=4096 p=0",
		fmt.Sprintf(`kinds:eight s="/x"/2 n=%d yes=%d f=2.5 u=250 h=-3 raw="abc"/3 p=0`, -5-i, i%2),
		fmt.Sprintf(`kinds:strung phase="phase -7"/8 n=%d quoted="\"word\""/6`, i),
	}
}

func TestTraceGo(t *testing.T) {
	for _, c := range []gobuild.Config{{}, {PIE: true}, {Strip: true}, {PIE: true, Strip: true, Go: gobuild.Versions[0]}} {
		t.Run(c.String(), func(t *testing.T) {
			path := linked(t, c, "./link/testdata/allkinds")
			for _, mode := range modes {
				t.Run(mode.String(), func(t *testing.T) {
					force(t, mode)
					traceKinds(t, path)
				})
			}
		})
	}
}

func traceKinds(t *testing.T, path string) {
	const n = 10
	cmd, err := Start(t.Context(), []string{path, "-n", fmt.Sprint(n)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Signal(os.Kill)
	target := PIDs(cmd.PID())
	markers := mustFind(t, target)
	for _, m := range markers {
		if !m.Typed || !m.Counted || len(m.File.Problems) > 0 || m.File.Go == "" {
			t.Errorf("%s: typed %t, counted %t, Go %q, problems %v", m.FullName(), m.Typed, m.Counted, m.File.Go, m.File.Problems)
		}
	}
	tr, err := Trace(target, mustFind(t, target, "kinds:*"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for i := range n {
		want = append(want, wantKinds(i)...)
	}
	for _, e := range drain(t, tr) {
		got = append(got, formatEvent(e))
		if e.Goroutine != 1 {
			t.Errorf("%s in goroutine %d, want 1", e.Point.FullName(), e.Goroutine)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTraceTexts(t *testing.T) {
	path := linked(t, gobuild.Config{}, "testdata/texts")
	for _, limit := range []int{1, 20, 32, 256, 1000, 4096} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := startTick(t, path, 0)
			target := PIDs(p.PID())
			tr, err := Trace(target, mustFind(t, target), &TraceOptions{MaxString: limit})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			p.run()
			p.Expect("done")
			if err := tr.Stop(); err != nil {
				t.Fatal(err)
			}
			checkTexts(t, drain(t, tr), limit)
		})
	}
}

var textSizes = []int{0, 1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 100_000}

func checkTexts(t *testing.T, events []*event.Event, limit int) {
	hits := map[string]int{}
	for _, e := range events {
		i := hits[e.Point.Name]
		hits[e.Point.Name]++
		switch v := e.Values; e.Point.Name {
		case "sized":
			full := strings.Repeat(string(rune('a'+i)), textSizes[i])
			for _, f := range v[1:] {
				if f.Err() != nil || f.Len() != len(full) || string(f.Bytes()) != full[:min(len(full), limit)] {
					t.Errorf("text of %d bytes: %d bytes of %d, %v", len(full), len(f.Bytes()), f.Len(), f.Err())
				}
			}
		case "cold":
			if got, want := format(e.Point.Fields[0], v[0]), fmt.Sprintf("%q/4", "\x7fELF"[:min(4, limit)]); got != want {
				t.Errorf("text that nobody has touched is %s, want %s", got, want)
			}
		case "wild":
			if v[0].Err() == nil || v[0].Len() != 9 || v[1].Bits() != 5 || v[2].Err() != nil || string(v[2].Bytes()) != "good"[:min(4, limit)] {
				t.Errorf("a text that cannot be read: %v", v)
			}
		case "goroutine":
			if e.Goroutine != int64(v[0].Bits()) || e.Goroutine == 0 {
				t.Errorf("hit of goroutine %d is by goroutine %d", v[0].Bits(), e.Goroutine)
			}
		}
	}
	want := map[string]int{"sized": len(textSizes), "cold": 1, "wild": 1, "goroutine": 1000}
	if diff := cmp.Diff(want, hits); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// Every hit of many goroutines is counted while the target's stacks move.
func TestCountGo(t *testing.T) {
	const n = 1_000_000
	path := linked(t, gobuild.Config{PIE: true}, "./link/testdata/allkinds")
	cmd, err := Start(t.Context(), []string{path, "-n", fmt.Sprint(n)}, &StartOptions{Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Signal(os.Kill)
	target := PIDs(cmd.PID())
	c, err := Count(target, mustFind(t, target, "kinds:signed"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := hits(t, c)["signed"]; got != n {
		t.Errorf("counted %d of %d", got, n)
	}
}

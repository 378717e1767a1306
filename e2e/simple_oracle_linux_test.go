package e2e

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/peer"
	"github.com/waymark-trace/waymark/internal/variable"
	"github.com/waymark-trace/waymark/tracer"
)

// simplePasses is how often main has each marker of the corpus passed.
var simplePasses = map[string]int{
	"c:registers": 3, "c:stack": 3, "c:pieces": 3, "c:split": 3, "c:folded": 3, "c:helper": 9, "c:clobbered": 3,
	"c:loop": 10, "c:tight": 12, "c:unrolled": 4, "c:floats": 3, "c:command": 2, "c:globals": 3, "c:clone": 6,
	"c:recurse": 5, "c:anchored": 4, "c:body": 2, "c:last": 1, "c:nested": 6, "c:case": 2, "c:shadows": 3,
	"cc:take": 3, "cc:twice": 6, "cc:reference": 3, "cc:shared": 3,
}

// permitted are the reasons for which waymark may have no value where gdb has one. A probe sees
// the general registers and memory, and no frame but its own.
var permitted = []string{
	"register that the kernel does not show to probes", // gdb reads XMM registers
	"only its value at the function's entry is known",  // gdb looks for it in the caller
	"points to a variable that is not in memory",       // gdb makes up a pointer
	"it is a parameter that was computed away",         // and that, too
	"local to a thread",                                // gdb asks libpthread
}

// simpleHit is one pass of a marker: what its variables are, by their names, "-" for no value.
type simpleHit struct {
	marker string
	values map[string]string
	why    map[string]error // of those that have none
}

// oracle is a build of the corpus.
type oracle struct {
	compiler, source, level, dwarf string
	pie                            bool
}

func (o *oracle) String() string {
	return fmt.Sprintf("%s %s %s %s pie=%t", o.compiler, filepath.Base(o.source), o.level, o.dwarf, o.pie)
}

func (o *oracle) build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "corpus")
	args := []string{"-w", o.level, o.dwarf, "-I../include", "-o", file}
	if o.pie {
		args = append(args, "-fPIE", "-pie")
	} else {
		args = append(args, "-fno-pie", "-no-pie")
	}
	if out, err := exec.Command(o.compiler, append(args, o.source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", o, err, out)
	}
	return file
}

// The value oracle: what waymark's events say of variables is what gdb says at the same address,
// or both have no value. Every pass of a marker is one event.
func TestSimpleValues(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "gdb", "gcc", "g++", "clang", "clang++")
	levels := []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	if testing.Short() {
		levels = []string{"-O0", "-O2"}
	}
	have, all := map[string]int{}, map[string]int{}
	refused := map[string]int{}
	for _, source := range []struct{ file, suffix string }{{"testdata/simple/corpus.c", ""}, {"testdata/simple/more.cc", "++"}} {
		for _, compiler := range []string{"gcc", "clang"} {
			if source.suffix != "" {
				compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
			}
			for _, level := range levels {
				for i, dwarf := range []string{"-gdwarf-4", "-gdwarf-5"} {
					o := oracle{compiler, source.file, level, dwarf, i == 1}
					h, a, r := o.compare(t)
					have[level], all[level], refused[level] = have[level]+h, all[level]+a, refused[level]+r
				}
			}
		}
	}
	for _, level := range levels {
		t.Logf("%s: %d of %d values of variables, %d markers without a place", level, have[level], all[level], refused[level])
	}
	// At -O0 there is everything but what is local to a thread: 3 hits of one variable a build. At
	// -O2 two thirds are the floor.
	if missing := all["-O0"] - have["-O0"]; missing != 4*3 {
		t.Errorf("-O0: %d values are missing, want those of c:globals' perthread, 12", missing)
	}
	if 3*have["-O2"] < 2*all["-O2"] {
		t.Errorf("-O2: %d of %d values, want two thirds", have["-O2"], all["-O2"])
	}
}

// compare builds, traces, asks gdb, and returns how many values there were of how many variables,
// and how many markers have no place.
func (o *oracle) compare(t *testing.T) (have, all, refused int) {
	t.Helper()
	file := o.build(t)
	markers, err := tracer.Find(context.Background(), tracer.Target{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	got, want := o.trace(t, file), o.gdb(t, file, markers)
	for _, m := range markers {
		name := m.Simple.Name
		whole := len(m.Simple.Refused) == 0 && len(m.Sites) > 0
		if !whole {
			refused++
		}
		g, w := got[name], want[name]
		if whole && len(g) != simplePasses[name] || len(g) != len(w) || len(g) > simplePasses[name] {
			t.Errorf("%v: %s: %d events, gdb stopped %d times, passed %d times (%d places refused)",
				o, name, len(g), len(w), simplePasses[name], len(m.Simple.Refused))
			continue
		}
		if name == "c:anchored" && !whole {
			t.Errorf("%v: %s: %v", o, name, m.Simple.Refused)
		}
		for i := range g {
			h, a := o.same(t, &g[i], &w[i])
			have, all = have+h, all+a
		}
	}
	return have, all, refused
}

// same compares one hit.
func (o *oracle) same(t *testing.T, got, want *simpleHit) (have, all int) {
	t.Helper()
	for name, value := range got.values {
		all++
		if value != "-" {
			have++
		}
		expected, ok := want.values[name]
		if !ok { // gdb has the members of a structure of which nothing is left
			for n, v := range want.values {
				if strings.HasPrefix(n, name+".") {
					expected = v
					if v != "-" {
						break
					}
				}
			}
		}
		if parent, _, found := strings.Cut(name, "."); !ok && found && want.values[parent] == "-" {
			expected = "-"
		}
		if value == expected {
			continue
		}
		excused := value == "-" && want.values["at entry"] != ""
		for _, reason := range permitted {
			excused = excused || value == "-" && strings.Contains(got.why[name].Error(), reason)
		}
		if !excused {
			t.Errorf("%v: %s: %s is %q, gdb says %q (%v)", o, got.marker, name, value, expected, got.why[name])
		}
	}
	return have, all
}

// trace runs the program under waymark.
func (o *oracle) trace(t *testing.T, file string) map[string][]simpleHit {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command, err := tracer.Start(ctx, []string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	target := tracer.Target{PID: command.PID()}
	markers, err := tracer.Find(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	events, err := tracer.Trace(target, markers, nil)
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	defer events.Close()
	if err := command.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	if err := events.Stop(); err != nil {
		t.Fatal(err)
	}
	hits := map[string][]simpleHit{}
	for {
		e, err := events.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		h := simpleHit{e.Marker.Simple.Name, map[string]string{}, map[string]error{}}
		for i := range e.Values {
			f, v := &e.Marker.Fields[i], &e.Values[i]
			h.values[f.Name] = canonical(f, v)
			h.why[f.Name] = v.Err
		}
		hits[h.marker] = append(hits[h.marker], h)
	}
	if lost, err := events.Lost(); lost != 0 || err != nil {
		t.Fatalf("%d events lost: %v", lost, err)
	}
	return hits
}

// canonical writes a value as values.py does.
func canonical(f *tracer.Field, v *tracer.Value) string {
	switch {
	case v.Err != nil:
		if f.Kind == field.String && !errors.Is(v.Err, variable.ErrOptimized) && strings.Contains(v.Err.Error(), "could not be read") {
			return "nil" // text at address 0
		}
		return "-"
	case f.Elem != field.Invalid:
		var words []string
		size := f.Elem.Size()
		for at := 0; at+size <= len(v.Text); at += size {
			var bits uint64
			for i := size - 1; i >= 0; i-- {
				bits = bits<<8 | uint64(v.Text[at+i])
			}
			if f.Elem.Signed() {
				bits = uint64(int64(bits<<(64-8*size)) >> (64 - 8*size))
			}
			words = append(words, canonical(&tracer.Field{Kind: f.Elem}, &tracer.Value{Bits: bits}))
		}
		return "[" + strings.Join(words, " ") + "]"
	case f.Kind == field.String:
		return "text " + hex.EncodeToString(v.Text)
	case f.Kind.IsFloat():
		n := math.Float64frombits(v.Bits)
		if f.Kind == field.Float32 {
			n = float64(math.Float32frombits(uint32(v.Bits)))
		}
		var b [8]byte
		for i := range b {
			b[i] = byte(math.Float64bits(n) >> (8 * i))
		}
		return "float " + hex.EncodeToString(b[:])
	case f.Kind == field.Pointer && v.Bits == 0:
		return "nil"
	case f.Kind == field.Pointer:
		return "pointer"
	case f.Kind.Signed():
		return fmt.Sprint(int64(v.Bits))
	}
	return fmt.Sprint(v.Bits)
}

// gdb runs the program under gdb, which prints the variables at the places that waymark found.
func (o *oracle) gdb(t *testing.T, file string, markers []*tracer.Marker) map[string][]simpleHit {
	t.Helper()
	type place struct {
		Address     uint64   `json:"address"`
		Marker      string   `json:"marker"`
		Function    string   `json:"function"`
		Line        int      `json:"line"`
		Expressions []string `json:"expressions"`
	}
	var places []place
	for _, m := range markers {
		for _, p := range m.Simple.Places {
			function, _, _ := strings.Cut(m.Simple.Function, "<")
			places = append(places, place{p.Address, m.Simple.Name, function, m.Simple.Line, m.Simple.Variables})
		}
	}
	data, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	list := file + ".places"
	if err := os.WriteFile(list, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gdb", "-nx", "-q", "-batch", "-x", "testdata/simple/values.py", file)
	pie := "0"
	if o.pie {
		pie = "1"
	}
	cmd.Env = append(os.Environ(), "PLACES="+list, "PIE="+pie)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: gdb: %v\n%s", o, err, out)
	}
	hits := map[string][]simpleHit{}
	for line := range strings.SplitSeq(string(out), "\n") {
		text, ok := strings.CutPrefix(line, "HIT ")
		if !ok {
			continue
		}
		var h simpleHit
		if err := json.Unmarshal([]byte(text), &[]any{&h.marker, &h.values}); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		hits[h.marker] = append(hits[h.marker], h)
	}
	if len(hits) == 0 {
		t.Fatalf("%v: gdb stopped nowhere\n%s", o, out)
	}
	return hits
}

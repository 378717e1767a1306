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

// corpusPasses is how often main has each marker of the corpus passed.
var corpusPasses = map[string]int{
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
	"operation 0x1b in its expression",                 // a division, which eBPF has without a sign only
	"it is assigned at this address",                   // gdb takes what is there behind all statements
	"several passes of the marker share",               // the same
}

// wrong is what compilers say wrong of a variable, by compiler and marker: gdb prints it, too, and no
// tool can know.
var wrong = map[string]string{
	"gcc c:recurse": "of recursion that became a loop, the arguments of the first call",
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
	truths                         map[string][]simpleHit
	sum                            *tally
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

// The value oracle. The values that waymark's events have are those that the program has without
// optimization, as gdb says, pass for pass: whatever the compiler did, a value is right or not there. And
// where gdb has a right value at the same address, waymark has it too, but for what is permitted.
func TestSimpleValues(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "gdb", "gcc", "g++", "clang", "clang++")
	levels := []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	if testing.Short() {
		levels = []string{"-O0", "-O2"}
	}
	sums := map[string]*tally{}
	for _, l := range levels {
		sums[l] = &tally{permitted: map[string]int{}}
	}
	for _, c := range []struct{ compiler, source string }{
		{"gcc", "testdata/simple/corpus.c"}, {"clang", "testdata/simple/corpus.c"},
		{"g++", "testdata/simple/more.cc"}, {"clang++", "testdata/simple/more.cc"},
	} {
		plain := oracle{compiler: c.compiler, source: c.source, level: "-O0", dwarf: "-gdwarf-5"}
		truth := plain.truth(t)
		for _, level := range levels {
			for i, dwarf := range []string{"-gdwarf-4", "-gdwarf-5"} {
				o := oracle{c.compiler, c.source, level, dwarf, i == 1, truth, sums[level]}
				o.compare(t)
			}
		}
	}
	for _, l := range levels {
		s := sums[l]
		t.Logf("%s: %d of %d values; gdb has %d right ones and %d wrong ones; %d markers have no place; missing, permitted: %v",
			l, s.have, s.all, s.right, s.wrong, s.refused, s.permitted)
	}
	// At -O0 there is everything but what is local to a thread: three passes in four builds.
	if s := sums["-O0"]; s.all-s.have != 4*3 {
		t.Errorf("-O0: %d of %d values, want all but 12", s.have, s.all)
	}
	if s := sums["-O2"]; 4*s.have < 3*s.all {
		t.Errorf("-O2: %d of %d values, want three quarters", s.have, s.all)
	}
}

// tally is what there was at one level.
type tally struct {
	have, all, right, wrong, refused int
	permitted                        map[string]int
}

// truth is what gdb says of the variables of a build without optimization.
func (o *oracle) truth(t *testing.T) map[string][]simpleHit {
	t.Helper()
	file := o.build(t)
	markers, err := tracer.Find(context.Background(), tracer.Target{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	return o.gdb(t, file, markers)
}

// compare builds, traces, and asks gdb.
func (o *oracle) compare(t *testing.T) {
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
			o.sum.refused++
		}
		g, w, truth := got[name], want[name], o.truths[name]
		if whole && len(g) != corpusPasses[name] || len(g) != len(w) || len(g) > corpusPasses[name] {
			t.Errorf("%v: %s: %d events, gdb stopped %d times, passed %d times (%d places refused)",
				o, name, len(g), len(w), corpusPasses[name], len(m.Simple.Refused))
			continue
		}
		if name == "c:anchored" && !whole {
			t.Errorf("%v: %s: %v", o, name, m.Simple.Refused)
		}
		for i := range g {
			var right *simpleHit
			if whole && len(truth) == len(g) {
				right = &truth[i]
			}
			o.same(t, &g[i], &w[i], right)
		}
	}
}

// value returns what gdb says of a variable: it has the members of a structure of which nothing is
// left, and of which waymark speaks as a whole; or the other way round.
func (h *simpleHit) value(name string) string {
	if v, ok := h.values[name]; ok {
		return v
	}
	for n, v := range h.values {
		if strings.HasPrefix(n, name+".") && v != "-" {
			return v
		}
	}
	return "-"
}

// same compares one hit with what gdb says of it, and with the truth when it is known.
func (o *oracle) same(t *testing.T, got, gdb, truth *simpleHit) {
	t.Helper()
	for name, value := range got.values {
		peer := gdb.value(name)
		right := peer
		if truth != nil {
			right = truth.value(name)
		}
		o.sum.all++
		switch {
		case peer == "-":
		case peer == right:
			o.sum.right++
		default:
			o.sum.wrong++
		}
		if value != "-" {
			if o.sum.have++; value != right && right != "-" && (value != peer || wrong[o.compiler+" "+got.marker] == "") {
				t.Errorf("%v: %s: %s is %q, want %q, gdb says %q", o, got.marker, name, value, right, peer)
			}
			continue
		}
		if peer == "-" || peer != right {
			continue
		}
		reason := ""
		for _, r := range permitted {
			if strings.Contains(got.why[name].Error(), r) {
				reason = r
			}
		}
		if o.sum.permitted[reason]++; reason == "" {
			t.Errorf("%v: %s: %s has no value (%v), gdb says %q", o, got.marker, name, got.why[name], peer)
		}
	}
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
	kind := f.KindOf(v)
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
	case kind.HasLength():
		return "text " + hex.EncodeToString(v.Text)
	case kind.IsFloat():
		n := math.Float64frombits(v.Bits)
		if kind == field.Float32 {
			n = float64(math.Float32frombits(uint32(v.Bits)))
		}
		var b [8]byte
		for i := range b {
			b[i] = byte(math.Float64bits(n) >> (8 * i))
		}
		return "float " + hex.EncodeToString(b[:])
	case kind == field.Pointer && v.Bits == 0:
		return "nil"
	case kind == field.Pointer:
		return "pointer"
	case kind.Signed():
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

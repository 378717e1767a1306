package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
)

// corpusPasses is how often main has each marker of the corpus passed.
var corpusPasses = map[string]int{
	"c:registers": 3, "c:stack": 3, "c:pieces": 3, "c:split": 3, "c:folded": 3, "c:helper": 9, "c:clobbered": 3,
	"c:loop": 10, "c:tight": 12, "c:unrolled": 4, "c:floats": 3, "c:command": 2, "c:globals": 3, "c:clone": 6,
	"c:recurse": 5, "c:seventh": 4, "c:factorial": 5, "c:digits": 10, "c:steady": 4, "c:anchored": 4, "c:body": 2, "c:last": 1, "c:nested": 6, "c:case": 2, "c:shadows": 3, "c:twofold": 3,
	"c:aside": 9, "c:deep": 3,
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
	"an address in the stack for a variable",           // gdb prints that
}

// misdescribed are the markers of functions with wrong debugging information. Their values are
// right, or the same as the debugger's.
var misdescribed = map[string]bool{
	"c:recurse": true, "c:seventh": true, "c:factorial": true, "c:digits": true, // gcc: parameters of a recursion that became a loop
	"c:nested": true, // clang: an assignment after the marker, without location views
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
	form                           packed
	truths                         map[string][]simpleHit
	sum                            *tally
}

func (o *oracle) String() string {
	return fmt.Sprintf("%s %s %s %s %s", o.compiler, filepath.Base(o.source), o.level, o.dwarf, o.form)
}

// The value oracle. The values that waymark's events have are those that the program has without
// optimization, as gdb says, pass for pass: whatever the compiler did, a value is right or not
// there. And where gdb has a right value at the same address, waymark has it too, but for what is
// permitted.
func TestSimpleValues(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "gdb", "gcc", "g++", "clang", "clang++")
	levels := []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	if testing.Short() {
		levels = []string{"-O0", "-O2"}
	}
	sums, others := map[string]*tally{}, map[string]*tally{}
	for _, l := range levels {
		sums[l], others[l] = &tally{permitted: map[string]int{}}, &tally{permitted: map[string]int{}}
	}
	for _, c := range []struct {
		compiler, source string
		sums             map[string]*tally
	}{
		{"gcc", "testdata/simple/corpus.c", sums}, {"clang", "testdata/simple/corpus.c", sums},
		{"g++", "testdata/simple/more.cc", sums}, {"clang++", "testdata/simple/more.cc", sums},
		// This was made of a wrong value, which does not show how many are there.
		{"clang", "testdata/simple/spilled.c", others},
	} {
		plain := oracle{compiler: c.compiler, source: c.source, level: "-O0", dwarf: "-gdwarf-5"}
		truth := plain.truth(t)
		for _, level := range levels {
			for i, dwarf := range []string{"-gdwarf-4", "-gdwarf-5"} {
				o := oracle{c.compiler, c.source, level, dwarf, []packed{executable, inPIE}[i], truth, c.sums[level]}
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
	if s := sums["-O2"]; 10*s.have < 7*s.all {
		t.Errorf("-O2: %d of %d values, want seven tenths", s.have, s.all)
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
	p := o.build(t)
	markers, err := tracer.Find(context.Background(), tracer.Path(p.file))
	if err != nil {
		t.Fatal(err)
	}
	return o.gdb(t, p, markers)
}

// compare builds, traces, and asks gdb.
func (o *oracle) compare(t *testing.T) {
	t.Helper()
	p := o.build(t)
	markers, err := tracer.Find(context.Background(), tracer.Path(p.file))
	if err != nil {
		t.Fatal(err)
	}
	got, want := o.trace(t, p), o.gdb(t, p, markers)
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

// same compares one hit with what gdb or delve says of it, and with the truth when it is known.
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
			if o.sum.have++; value != right && right != "-" && !(misdescribed[got.marker] && value == peer) {
				t.Errorf("%v: %s: %s is %q, want %q, the debugger says %q", o, got.marker, name, value, right, peer)
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
			t.Errorf("%v: %s: %s has no value (%v), the debugger says %q", o, got.marker, name, got.why[name], peer)
		}
	}
}

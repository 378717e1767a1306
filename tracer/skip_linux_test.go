package tracer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
)

// A site where a probe would do harm costs itself only: in all that attaches, and in what is
// loaded later. When it is all there is, it is refused.
func TestSkipsRedZone(t *testing.T) {
	path := mixed(t)
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop5 {
		t.Skipf("this kernel makes no calls of nops of 5 bytes: %v, %v", g, err)
	}
	check := func(t *testing.T, skipped []*SiteError) {
		t.Helper()
		if len(skipped) != 1 || skipped[0].Marker.Name != "bare" || !errors.Is(skipped[0], ErrRedZone) {
			t.Errorf("left out: %v, want the site of bare", skipped)
		}
	}
	p := startTick(t, path, 7)
	target := PIDs(p.PID())
	all := mustFind(t, target)
	c, err := Count(target, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	keys, err := Count(target, all, &CountOptions{By: []string{"pid"}})
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	tr, err := Trace(target, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	pairs, err := Latency(target, one(t, all, "loop[12]"), one(t, all, "[ab]*"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	for _, skipped := range [][]*SiteError{c.Skipped(), keys.Skipped(), tr.Skipped(), pairs.Skipped()} {
		check(t, skipped)
	}
	p.run()
	p.Expect("done 7")
	want := map[string]uint64{"loop1": 7, "loop2": 7, "args": 7, "bare": 0}
	for _, c := range []*Counter{c, keys} {
		if diff := cmp.Diff(want, hits(t, c)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if l, err := pairs.Read(); err != nil || l.Count() != 7 || l.Ends != 7 {
		t.Errorf("%+v (%v), want 7 pairs", l, err)
	}
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := len(drain(t, tr)); n != 21 {
		t.Errorf("%d events, want 21", n)
	}
	if _, err := Count(target, one(t, all, "bare"), nil); !errors.Is(err, ErrRedZone) {
		t.Errorf("nothing else is left: %v", err)
	}
	for want, sides := range map[string][2]string{"nothing ends a pair: ": {"loop1", "bare"}, "nothing begins a pair: ": {"bare", "loop1"}} {
		l, err := Latency(target, one(t, all, sides[0]), one(t, all, sides[1]), nil)
		if !errors.Is(err, ErrRedZone) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("from %s to %s: %v, want %q", sides[0], sides[1], err, want)
		}
		if err == nil {
			closeNow(t, l)
		}
	}

	lap := compile(t, "lap.c", "-shared", "-fPIC", "-DNOP5", "-DQUIET")
	l := startLoader(t, laterCase{}, lap, "9")
	var skipped []error
	report := l.later.Report
	l.later.Report = func(markers []*Marker, err error) {
		if site := (*SiteError)(nil); errors.As(err, &site) {
			skipped = append(skipped, err)
			return
		}
		report(markers, err)
	}
	later, err := Count(l.target, nil, &CountOptions{Attach: Attach{Later: l.later}})
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	l.next()
	if got := hits(t, later); got["begin"] != 9 || got["end"] != 0 {
		t.Errorf("counted %v", got)
	}
	closeNow(t, later)
	if n := len(later.Skipped()); len(skipped) != n || n == 0 || !errors.Is(skipped[0], ErrRedZone) {
		t.Errorf("reported %v, left out %v", skipped, later.Skipped())
	}
}

// A file that is not to be had any more costs its own markers only: a library that was unloaded and deleted
// since its markers were read.
func TestSkipsUnreadable(t *testing.T) {
	peer.Root(t)
	lap := compile(t, "lap.c", "-shared", "-fPIC", "-DQUIET")
	gone := filepath.Join(t.TempDir(), "gone.so")
	run(t, "cp", compile(t, "plugin.c", "-shared", "-fPIC", "-DQUIET"), gone)
	p := startLoader(t, laterCase{}, lap, "1", gone, "1", "-", "9")
	for range 2 {
		p.run()
		p.Expect("loaded")
		p.run()
		p.Expect("done")
	}
	var markers, unreadable []*Marker
	for _, m := range mustFind(t, p.target) {
		switch m.File.Path {
		case gone:
			unreadable = append(unreadable, m)
			markers = append(markers, m)
		case lap:
			markers = append(markers, m)
		}
	}
	if len(unreadable) == 0 || len(unreadable) == len(markers) {
		t.Fatalf("%d markers, of which %d are to go", len(markers), len(unreadable))
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	p.run()
	p.Expect("loaded")
	c, err := Count(p.target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	for _, m := range unreadable {
		n += len(m.Sites)
	}
	skipped := c.Skipped()
	for _, s := range skipped {
		if s.Marker.File.Path != gone || !errors.Is(s, ErrChanged) {
			t.Errorf("left out: %v", s)
		}
	}
	if len(skipped) != n {
		t.Errorf("%d sites are left out, want the %d of %s", len(skipped), n, gone)
	}
	p.run()
	p.Expect("done")
	if got := hits(t, c); got["begin"] != 9 {
		t.Errorf("counted %v, want 9 of begin", got)
	}
	if _, err := Trace(p.target, unreadable, nil); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), gone) {
		t.Errorf("nothing else is left: %v", err)
	}
}

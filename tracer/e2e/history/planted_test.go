package history

import (
	"math"
	"strings"
	"testing"
)

// A checker that finds nothing proves nothing: each of these plants one violation in a history without any.

// sound makes two threads with n marks each, 100 ns apart, and a session that began to see them after 10 and ended before
// the last 10.
func sound(n int) ([]*thread, *session) {
	var threads []*thread
	for id := range 2 {
		t := &thread{id: uint32(id + 1), pid: 7, tid: 70 + id, goroutine: int64(id + 1)}
		for i := range n {
			at := int64(1000 + 100*i + 10*id)
			t.marks = append(t.marks, mark{at, at + 20, at + 40})
		}
		threads = append(threads, t)
	}
	s := &session{
		name: "tracer", spawned: 1500, attached: 1990, asked: threads[0].marks[n-10].begin + 5, ended: threads[0].marks[n-5].begin,
		kinds: [markKinds]bool{true, true}, sees: func(*thread) visibility { return must }, summary: true, listed: true, losses: true,
	}
	for i := range n {
		for kind := range markKinds { // in the order of time
			for _, t := range threads {
				from, to, _ := t.marks[i].span(kind)
				if from > s.attached-100 && to < s.asked+100 {
					s.events = append(s.events, received{kind: kind, id: t.id, seq: uint64(i), time: from + 1, pid: t.pid, tid: t.tid, cpu: int(t.id)})
				}
			}
		}
	}
	s.reported = uint64(len(s.events))
	return threads, s
}

func TestSound(t *testing.T) {
	threads, s := sound(100)
	v := s.check(threads)
	if len(v.violations) > 0 || v.inside == 0 || v.inside > v.received || v.received > v.possible {
		t.Errorf("%+v", v)
	}
}

func TestPlanted(t *testing.T) {
	middle := func(s *session) int { return len(s.events) / 2 }
	drop := func(s *session, i int) { s.events = append(s.events[:i:i], s.events[i+1:]...) }
	for _, tt := range []struct {
		name  string
		plant func(*session, []*thread)
		want  string
	}{
		{"drop one event, at the edge", func(s *session, _ []*thread) { drop(s, 4); s.reported--; s.attached += 500 }, "is missing between"},
		{"drop one event, inside", func(s *session, _ []*thread) { drop(s, middle(s)); s.reported-- }, "hits that it must have seen are no events, and 0 are lost"},
		{"drop one event, and report it", func(s *session, _ []*thread) { drop(s, middle(s)) }, "reports"},
		{"duplicate one", func(s *session, _ []*thread) { s.events = append(s.events, s.events[middle(s)]); s.reported++ }, "for the second time"},
		{"duplicate one at once", func(s *session, _ []*thread) {
			i := middle(s)
			s.events = append(s.events[:i+1:i+1], s.events[i:]...)
			s.reported++
		}, "for the second time"},
		{"swap two", func(s *session, _ []*thread) {
			i := middle(s)
			j := i + 4 // the same thread and marker
			s.events[i], s.events[j] = s.events[j], s.events[i]
		}, "later than the order of time, and 0 are reported"},
		{"swap two of a thread, with the times of the places", func(s *session, _ []*thread) {
			i := middle(s)
			j := i + 4
			s.events[i], s.events[j] = s.events[j], s.events[i]
			s.events[i].time, s.events[j].time = s.events[j].time, s.events[i].time
		}, "after"},
		{"report one as late", func(s *session, _ []*thread) { s.late = 1 }, "0 events are later than the order of time, and 1 are reported"},
		{"count what is not lost", func(s *session, threads []*thread) { s.lost = 1000 }, "are lost, and"},
		{"lose two and count one", func(s *session, _ []*thread) {
			drop(s, middle(s))
			drop(s, middle(s))
			s.reported -= 2
			s.lost = 1
		}, "2 hits that it must have seen are no events, and 1 are lost"},
		{"make one up", func(s *session, _ []*thread) { s.events[middle(s)].seq = 1 << 40 }, "did not mark"},
		{"of a thread that there is not", func(s *session, _ []*thread) { s.events[middle(s)].id = 9 }, "did not mark"},
		{"before the tracer's start", func(s *session, _ []*thread) {
			e := s.events[0]
			e.seq, e.time = 0, 1001
			s.events = append([]received{e}, s.events...)
			s.reported++
		}, "cannot have seen"},
		{"of a process that was not asked for", func(s *session, threads []*thread) {
			s.sees = func(t *thread) visibility {
				if t == threads[1] {
					return never
				}
				return must
			}
		}, "cannot have seen"},
		{"at another time", func(s *session, _ []*thread) { s.events[middle(s)].time += 50 }, "has the time"},
		{"of another thread", func(s *session, _ []*thread) { s.events[middle(s)].tid = 3 }, "is of process"},
		{"of another goroutine", func(s *session, _ []*thread) { s.events[middle(s)].goroutine = 3 }, "is of process"},
		{"with another value", func(s *session, _ []*thread) { s.events[middle(s)].wrongValue = true }, "wrong value"},
		{"of a marker that was not asked for", func(s *session, _ []*thread) { s.kinds[markDone] = false }, "not asked for"},
		{"cut off in the middle", func(s *session, _ []*thread) {
			drop(s, middle(s))
			s.cut, s.summary = true, false
		}, "hits that it must have seen are no events"},
		{"end by -n with less", func(s *session, _ []*thread) { s.counted = s.reported + 1 }, "ended by -n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			threads, s := sound(100)
			tt.plant(s, threads)
			if v := s.check(threads); !strings.Contains(strings.Join(v.violations, "\n"), tt.want) {
				t.Errorf("found %q, want %q", v.violations, tt.want)
			}
		})
	}
}

// What may be so is no violation: losses that are counted, and the end of a tracer that was killed.
func TestPermitted(t *testing.T) {
	for name, change := range map[string]func(*session){
		"counted loss": func(s *session) {
			i := len(s.events) / 2
			s.events = append(s.events[:i:i], s.events[i+3:]...)
			s.lost, s.reported = 3, s.reported-3
		},
		"killed": func(s *session) {
			s.events = s.events[:len(s.events)/2]
			s.cut, s.summary = true, false
		},
		"a CPU that wrote less": func(s *session) {
			var kept []received
			for i, e := range s.events {
				if e.cpu != 2 || i < len(s.events)/2 {
					kept = append(kept, e)
				}
			}
			s.events, s.cut, s.summary = kept, true, false
		},
		"never attached": func(s *session) { s.events, s.summary, s.losses, s.attached = nil, false, false, math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			threads, s := sound(100)
			change(s)
			if v := s.check(threads); len(v.violations) > 0 {
				t.Errorf("%q", v.violations)
			}
		})
	}
}

func TestPlantedCounts(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    func(inside, possible uint64) uint64
		want string
	}{
		{"few", func(inside, _ uint64) uint64 { return inside }, ""},
		{"many", func(_, possible uint64) uint64 { return possible }, ""},
		{"one too few", func(inside, _ uint64) uint64 { return inside - 1 }, "were inside"},
		{"one too many", func(_, possible uint64) uint64 { return possible + 1 }, "were possible"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			threads, s := sound(100)
			s.kinds[markDone] = false
			v := s.check(threads)
			s.listed, s.kinds, s.counts = false, [markKinds]bool{true, false}, &[markKinds]uint64{}
			s.counts[markMark] = tt.n(v.inside, v.possible)
			if got := strings.Join(s.check(threads).violations, "\n"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlantedPairs(t *testing.T) {
	threads, s := sound(100)
	v := s.check(threads)
	pairsOf := func(n uint64) pairs { return pairs{pairs: n, max: 30} }
	s.listed = false
	for _, tt := range []struct {
		name string
		p    pairs
		want string
	}{
		{"right", pairsOf(v.received / 2), ""},
		{"an end beyond", pairs{pairs: v.received/2 - 1, from: 1, to: 1, max: 40}, ""},
		{"one too few", pairsOf(v.inside/2 - 1), "were inside"},
		{"one too many", pairsOf(v.possible/2 + 1), "possible"},
		{"too long", pairs{pairs: v.received / 2, max: 41}, "the longest"},
		{"nested", pairs{pairs: v.received/2 - 1, from: 1, nested: 1, max: 40}, "nested"},
		{"without room", pairs{pairs: v.received/2 - 1, from: 1, full: 1, max: 40}, "without room"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.latency = &tt.p
			if got := strings.Join(s.check(threads).violations, "\n"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The same seed draws the same plan, and the plans of some hundred have all forms, engines, verbs, targets and nemeses.
func TestDraw(t *testing.T) {
	found := map[any]int{}
	for seed := range uint64(400) {
		p, again := draw(seed, seedTimeOfDraws, false), draw(seed, seedTimeOfDraws, false)
		if p.String() != again.String() || len(p.lanes) != len(again.lanes) {
			t.Fatalf("seed %d: %v and %v", seed, p, again)
		}
		found[p.form]++
		for _, k := range p.strikes {
			found[k.nemesis]++
		}
		for i, s := range append(p.lanes, p.second...) {
			if i < len(p.lanes) && s.life != again.lanes[i].life {
				t.Fatalf("seed %d: other sessions", seed)
			}
			found[s.verb]++
			found[s.target]++
			found[s.ending]++
			found[s.agent]++
			if s.disk != 0 {
				found["disk"]++
			}
			for _, k := range s.strikes {
				found[k.nemesis]++
			}
		}
	}
	for f := range forms {
		if found[f] == 0 {
			t.Errorf("no %v", f)
		}
	}
	for n := range nemeses {
		if found[n] == 0 {
			t.Errorf("no %v", n)
		}
	}
	for _, want := range []any{"stat", "trace", "record", "latency", "flight", "disk", true, false, byPID, byFile, byInterrupt, byTerm, byDuration, byCount} {
		if found[want] == 0 {
			t.Errorf("no %v", want)
		}
	}
}

const seedTimeOfDraws = 15e9

func TestPlantedApart(t *testing.T) {
	threads, s := sound(100)
	v := s.check(threads)
	s.listed = false
	for _, tt := range []struct {
		mark, done uint64
		want       string
	}{
		{v.received / 2, v.received / 2, ""},
		{v.received/2 + 2, v.received / 2, ""},
		{v.received/2 + 2, v.received/2 - 1, "markers that come in turn"},
		{v.received/2 - 1, v.received/2 + 2, "markers that come in turn"},
	} {
		s.counts = &[markKinds]uint64{tt.mark, tt.done}
		if got := strings.Join(s.check(threads).violations, "\n"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%d and %d: found %q, want %q", tt.mark, tt.done, got, tt.want)
		}
	}
}

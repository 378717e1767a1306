package history

import (
	"fmt"
	"math"
	"slices"
)

// A session is one run of a tracer: what it claims, and when it ran. All times are of CLOCK_MONOTONIC, taken by the test.
type session struct {
	name string
	// The tracer cannot have seen a mark that ended before spawned, or began after ended.
	spawned, ended int64
	// It must have seen a mark that began after attached and ended before asked. attached is math.MaxInt64 if it never
	// reported that it had attached.
	attached, asked int64

	kinds [markKinds]bool          // markers it was asked for
	sees  func(*thread) visibility // the threads it was asked for
	slack int64                    // by which its clock may differ from the program's
	// apart means that the program switches its own sites, one marker after the other: an optimized one reads the
	// counters that the kernel has raised every 100 ms.
	apart bool

	// summary means that the tracer ended by itself and reported its losses: then every hit is an event or lost.
	summary bool
	// cut means that what came last may be missing, because the tracer was killed or its disk was full.
	cut bool
	// counted is the number of events that ended it by -n, 0 for another end.
	counted uint64

	listed   bool   // events are all events
	late     uint64 // events that came too late for the order of time, by the summary
	events   []received
	losses   bool   // lost is known
	lost     uint64 // including events that could not be written
	reported uint64 // the number of events in the summary, with listed and summary

	counts  *[markKinds]uint64 // of stat
	latency *pairs
}

// received is an event as a tracer presented it, in its order.
type received struct {
	kind       int
	id         uint32
	seq        uint64
	time       int64
	pid, tid   int
	goroutine  int64
	cpu        int
	wrongValue bool
}

// pairs are the result of a latency session: from mark to done.
type pairs struct{ pairs, from, to, nested, full, lost, max uint64 }

// visibility is what a session sees of a thread.
type visibility int

const (
	never visibility = iota // no event may come of it
	may                     // each event may come
	must                    // each event between attached and asked must come
)

// inside reports whether a session must have seen a hit.
func (s *session) inside(v visibility, from, to int64) bool {
	return v == must && to != 0 && from > s.attached && to < s.asked
}

// possible reports whether a session can have seen a hit.
func (s *session) possible(v visibility, from, to int64) bool {
	return v != never && (to == 0 || to >= s.spawned) && from <= s.ended
}

// A verdict is the result of checking a session.
type verdict struct {
	violations []string
	inside     uint64 // hits that the tracer must have seen
	possible   uint64 // hits that it can have seen
	received   uint64
	lost       uint64
}

// exact reports whether received and lost had to be one certain number, other than zero.
func (v *verdict) exact() bool { return v.inside == v.possible && v.inside != 0 }

func (v *verdict) fail(format string, args ...any) {
	const most = 10
	if len(v.violations) < most {
		v.violations = append(v.violations, fmt.Sprintf(format, args...))
	} else if len(v.violations) == most {
		v.violations = append(v.violations, "and more")
	}
}

// check compares a session with the program's own notes.
func (s *session) check(threads []*thread) *verdict {
	v := &verdict{lost: s.lost}
	var inside, possible [markKinds]uint64
	for _, t := range threads {
		sees := s.sees(t)
		for i := range t.marks {
			for kind := range markKinds {
				from, to, begun := t.marks[i].span(kind)
				if !begun || !s.kinds[kind] {
					continue
				}
				if s.inside(sees, from, to) {
					inside[kind]++
				}
				if s.possible(sees, from, to) {
					possible[kind]++
				}
			}
		}
	}
	for kind := range markKinds {
		v.inside += inside[kind]
		v.possible += possible[kind]
	}
	switch {
	case s.listed:
		s.checkEvents(v, threads)
	case s.counts != nil:
		s.checkTogether(v, threads)
		for kind, n := range s.counts {
			v.received += n
			if s.summary && n < inside[kind] && s.counted == 0 {
				v.fail("%s counted %d hits of %s, %d were inside", s.name, n, markNames[kind], inside[kind])
			}
			if n > possible[kind] {
				v.fail("%s counted %d hits of %s, %d were possible", s.name, n, markNames[kind], possible[kind])
			}
		}
	case s.latency != nil:
		s.checkPairs(v, threads, inside, possible)
	}
	if s.counted != 0 && s.summary && v.received < s.counted {
		v.fail("%s ended by -n %d and has %d", s.name, s.counted, v.received)
	}
	return v
}

// checkTogether proves of counts of both markers that they begin and end at one moment: a thread is then between the
// two markers at most once at the beginning, and once at the end.
func (s *session) checkTogether(v *verdict, threads []*thread) {
	if !s.summary || !s.kinds[markMark] || !s.kinds[markDone] || s.apart {
		return
	}
	seen := int64(0)
	for _, t := range threads {
		if s.sees(t) != never {
			seen++
		}
	}
	if d := int64(s.counts[markMark]) - int64(s.counts[markDone]); d > seen || d < -seen {
		v.fail("%s counted %d and %d hits of markers that come in turn, in %d threads", s.name, s.counts[markMark], s.counts[markDone], seen)
	}
}

// checkPairs proves of a latency session that each begin is in a pair, or is counted as being in none.
func (s *session) checkPairs(v *verdict, threads []*thread, inside, possible [markKinds]uint64) {
	p := s.latency
	v.received, v.lost = p.pairs, p.lost
	if p.lost > 0 || !s.losses {
		return // of either side: what was lost can have spoiled any pair
	}
	if p.nested > 0 || p.full > 0 {
		v.fail("%s has %d nested begins and %d without room, where each thread has one at a time", s.name, p.nested, p.full)
	}
	for _, side := range []struct {
		kind     int
		unpaired uint64
	}{{markMark, p.from}, {markDone, p.to}} {
		n := p.pairs + side.unpaired
		if s.summary && s.counted == 0 && n < inside[side.kind] || n > possible[side.kind] {
			v.fail("%s has %d pairs and %d of %s unpaired; %d were inside and %d possible",
				s.name, p.pairs, side.unpaired, markNames[side.kind], inside[side.kind], possible[side.kind])
		}
	}
	longest := int64(0)
	for _, t := range threads {
		for i := range t.marks {
			m := &t.marks[i]
			if m.end == 0 {
				if m.begin != 0 {
					longest = math.MaxInt64
				}
			} else if s.possible(s.sees(t), m.begin, m.end) {
				longest = max(longest, m.end-m.begin)
			}
		}
	}
	if p.pairs > 0 && p.max > uint64(longest) {
		v.fail("%s measured %d ns, the longest pair took %d", s.name, p.max, longest)
	}
}

// checkEvents proves of listed events that they are the program's, each once and in order, and that no other is missing.
func (s *session) checkEvents(v *verdict, threads []*thread) {
	v.received = uint64(len(s.events))
	if s.summary && s.reported != v.received {
		v.fail("%s reports %d events and has %d", s.name, s.reported, v.received)
	}
	byID := map[uint32]*thread{}
	seen := map[uint32]*[markKinds][]bool{}
	last := map[uint32]*[markKinds]uint64{}
	end := map[int]int64{} // the last time of each CPU
	latest, late := int64(0), 0
	for _, t := range threads {
		byID[t.id] = t
		seen[t.id] = &[markKinds][]bool{make([]bool, len(t.marks)), make([]bool, len(t.marks))}
		last[t.id] = &[markKinds]uint64{}
	}
	for i := range s.events {
		e := &s.events[i]
		end[e.cpu] = max(end[e.cpu], e.time)
		isLate := e.time < latest
		late += btoi(isLate)
		latest = max(latest, e.time)
		t := byID[e.id]
		if t == nil || e.seq >= uint64(len(t.marks)) {
			v.fail("%s: event %d of %s is (%d, %d), which the program did not mark", s.name, i, markNames[e.kind], e.id, e.seq)
			continue
		}
		if next := last[e.id][e.kind]; seen[e.id][e.kind][e.seq] {
			v.fail("%s: event %d of %s is (%d, %d) for the second time", s.name, i, markNames[e.kind], e.id, e.seq)
		} else if e.seq < next && !isLate {
			v.fail("%s: event %d of %s is (%d, %d) after %d of that thread", s.name, i, markNames[e.kind], e.id, e.seq, next-1)
		}
		seen[e.id][e.kind][e.seq] = true
		last[e.id][e.kind] = max(last[e.id][e.kind], e.seq+1)
		s.checkEvent(v, i, e, t)
	}
	if s.summary && uint64(late) != s.late {
		v.fail("%s: %d events are later than the order of time, and %d are reported", s.name, late, s.late)
	}
	s.checkMissing(v, threads, seen, end)
}

// checkEvent compares an event with its mark.
func (s *session) checkEvent(v *verdict, i int, e *received, t *thread) {
	from, to, begun := t.marks[e.seq].span(e.kind)
	what := fmt.Sprintf("%s: event %d of %s, (%d, %d)", s.name, i, markNames[e.kind], e.id, e.seq)
	if !s.kinds[e.kind] {
		v.fail("%s was not asked for", what)
	}
	if !begun || !s.possible(s.sees(t), from, to) {
		v.fail("%s, happened from %d to %d, which a tracer of this thread (%d) from %d to %d cannot have seen",
			what, from, to, s.sees(t), s.spawned, s.ended)
	}
	if e.time < from-s.slack || to != 0 && e.time > to+s.slack {
		v.fail("%s has the time %d, and happened between %d and %d", what, e.time, from, to)
	}
	if e.pid != t.pid || e.tid != 0 && t.tid != 0 && e.tid != t.tid || e.goroutine != 0 && e.goroutine != t.goroutine {
		v.fail("%s is of process %d, thread %d and goroutine %d, not %d, %d and %d", what, e.pid, e.tid, e.goroutine, t.pid, t.tid, t.goroutine)
	}
	if e.wrongValue {
		v.fail("%s has a wrong value", what)
	}
}

// checkMissing proves that each hit is an event or counted as lost. Of a tracer that was cut off it proves that of all
// hits before the time from which something may be missing: the earliest of the CPUs' last events.
func (s *session) checkMissing(v *verdict, threads []*thread, seen map[uint32]*[markKinds][]bool, end map[int]int64) {
	asked := s.asked
	if s.cut {
		asked = math.MaxInt64
		for _, last := range end {
			asked = min(asked, last)
		}
		if len(end) < 2 { // the other CPU's events may all be missing
			asked = 0
		}
		asked = min(asked, s.asked)
	}
	before := *s
	before.asked = asked
	var missing, spare uint64 // hits that are no events: must be lost, can be lost
	gaps := 0
	for _, t := range threads {
		sees := s.sees(t)
		for kind := range markKinds {
			if !s.kinds[kind] {
				continue
			}
			first, last := slices.Index(seen[t.id][kind], true), -1
			for i := range seen[t.id][kind] {
				if seen[t.id][kind][i] {
					last = i
				}
			}
			for i := range t.marks {
				from, to, begun := t.marks[i].span(kind)
				if !begun || seen[t.id][kind][i] || !s.possible(sees, from, to) {
					continue
				}
				spare++
				switch {
				case before.inside(sees, from, to):
					missing++
				case s.losses && s.lost == 0 && !s.cut && s.counted == 0 && sees == must && first >= 0 && i > first && i < last:
					if gaps++; gaps == 1 {
						v.fail("%s: (%d, %d) of %s is missing between %d and %d, and nothing is lost", s.name, t.id, i, markNames[kind], first, last)
					}
				}
			}
		}
	}
	if !s.losses || s.counted != 0 {
		return
	}
	if missing > s.lost {
		v.fail("%s: %d hits that it must have seen are no events, and %d are lost", s.name, missing, s.lost)
	}
	if s.lost > spare {
		v.fail("%s: %d are lost, and %d hits are no events", s.name, s.lost, spare)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

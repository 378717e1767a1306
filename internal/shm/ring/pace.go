package ring

import "time"

// Pace is how long a reader sleeps between two looks. No writer wakes it; to look costs a process in Go some
// 0.1 to 0.2 ms, as its scheduler wakes with it. So it looks as seldom as rings fill. The zero value begins with short naps.
type Pace struct{ nap time.Duration }

const (
	leastNap = time.Millisecond
	mostNap  = 50 * time.Millisecond
)

// Next returns how long to sleep now that some part of a ring, at most, has filled since the last nap.
func (p *Pace) Next(filled float64) time.Duration {
	switch {
	case p.nap == 0:
		p.nap = leastNap
	case filled > 1.0/8:
		p.nap = max(p.nap/4, leastNap)
	case filled < 1.0/32:
		p.nap = min(2*p.nap, mostNap)
	}
	return p.nap
}

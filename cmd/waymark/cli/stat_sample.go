package cli

import (
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// sample is the state of the counters at one time.
type sample struct {
	at       time.Time
	elapsed  time.Duration // since attaching
	interval time.Duration // since the last sample
	rows     []statRow
}

// statRow is what was counted of a marker, or with --by of one of its keys.
type statRow struct {
	rowID
	fields []event.Field // the fields of the key
	other  bool          // hits with keys beyond the limit
	folded int           // number of rows folded into this one: --top
	count  uint64
	delta  uint64 // since the last sample
}

// rowID tells rows apart from sample to sample.
type rowID struct {
	marker *tracer.Marker
	key    *tracer.Key // nil without --by, and of others
}

// hits returns the sum of all counts.
func (s *sample) hits() uint64 {
	var n uint64
	for _, r := range s.rows {
		n += r.count
	}
	return n
}

// perSecond returns a rate.
func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// sampler takes samples.
type sampler struct {
	session *session
	counter *tracer.Counter
	elapsed time.Duration    // at the last sample
	counts  map[rowID]uint64 // of the last sample
}

func newSampler(s *session, counter *tracer.Counter) *sampler {
	return &sampler{session: s, counter: counter, counts: map[rowID]uint64{}}
}

func (s *sampler) sample() (*sample, error) {
	counts, err := s.counter.Read()
	if err != nil {
		return nil, err
	}
	now := &sample{at: time.Now(), elapsed: s.session.elapsed()}
	now.interval = now.elapsed - s.elapsed
	s.elapsed = now.elapsed
	add := func(r statRow, count uint64) {
		r.count, r.delta = count, count-s.counts[r.rowID]
		s.counts[r.rowID] = count
		now.rows = append(now.rows, r)
	}
	none := leftOut(s.counter.Skipped()) // what is not counted is not zero
	for _, c := range counts {
		if none[c.Marker] {
			continue
		}
		if c.Fields == nil {
			add(statRow{rowID: rowID{c.Marker, nil}}, c.Count)
			continue
		}
		for _, k := range c.Keys {
			add(statRow{rowID: rowID{c.Marker, k.Key}, fields: c.Fields}, k.Count)
		}
		if c.Others > 0 {
			add(statRow{rowID: rowID{c.Marker, nil}, fields: c.Fields, other: true}, c.Others)
		}
	}
	return now, nil
}

// show shows a sample every interval until the session ends, and says why it did.
func (s *sampler) show(view statView, every time.Duration, ends <-chan end) (end, error) {
	tick := func(show func(*sample) error) error {
		now, err := s.sample()
		if err != nil {
			return err
		}
		return show(now)
	}
	return everyTick(every, ends,
		func() error { return tick(view.interval) },
		func(why end) error { return tick(func(now *sample) error { return view.final(now, why) }) })
}

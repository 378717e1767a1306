package stats

import (
	"runtime"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event/histogram"
)

// Window is the number of seconds over which a rate is taken.
const Window = 10

// How many shards a meter has: some for each processor, so that two goroutines rarely meet on one,
// and not too many, for the memory of histograms.
const minShards, maxShards = 8, 32

// meter counts events: all, and those of the last seconds. Each goroutine counts on one of its
// shards, so that few wait for another.
type meter struct{ shards []meterShard }

type meterShard struct {
	mu      sync.Mutex
	count   uint64
	seconds [16]second // of the time since the start, modulo 16: more than the window
	latency histogram.Histogram
	_       [64]byte // no two locks on one cache line
}

type second struct {
	at int64
	n  uint64
}

func newMeter() meter {
	n := minShards
	for n < maxShards && n < 4*runtime.GOMAXPROCS(0) {
		n *= 2
	}
	return meter{make([]meterShard, n)}
}

// shard returns where a goroutine counts.
func (m *meter) shard(goroutine uint64) *meterShard {
	return &m.shards[goroutine&uint64(len(m.shards)-1)]
}

// add counts an event of a goroutine, now after the start.
func (m *meter) add(goroutine uint64, now time.Duration) {
	s := m.shard(goroutine)
	s.mu.Lock()
	s.add(now)
	s.mu.Unlock()
}

// addLatency counts an event that took a while.
func (m *meter) addLatency(goroutine uint64, now, took time.Duration) {
	s := m.shard(goroutine)
	s.mu.Lock()
	s.add(now)
	s.latency.Add(took)
	s.mu.Unlock()
}

func (s *meterShard) add(now time.Duration) {
	s.count++
	at := int64(now / time.Second)
	b := &s.seconds[at%int64(len(s.seconds))]
	if b.at < at {
		*b = second{at: at}
	}
	if b.at == at { // not of a goroutine that was held up for a whole round
		b.n++
	}
}

// read returns the number of events, and how many there were per second: in the second that has begun and the
// ones of the window before it, or since the start.
func (m *meter) read(now time.Duration) (count uint64, rate float64) {
	at := int64(now / time.Second)
	var lately uint64
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		count += s.count
		for _, b := range s.seconds {
			if b.at > at-Window && b.at <= at {
				lately += b.n
			}
		}
		s.mu.Unlock()
	}
	span := min(now, now%time.Second+(Window-1)*time.Second)
	if span <= 0 {
		return count, 0
	}
	return count, float64(lately) / span.Seconds()
}

// latencies returns a copy of all latencies.
func (m *meter) latencies() *histogram.Histogram {
	var sum histogram.Histogram
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		sum.Merge(&s.latency)
		s.mu.Unlock()
	}
	return &sum
}

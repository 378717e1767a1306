package tracer

import (
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/internal/bpf"
)

// kernelPairs are the pairs of hits.
type kernelPairs struct {
	attachment
	kernel *bpf.Latency
	how    *LatencyOptions
	first  int // how many of the first markers begin pairs, -1 once they are attached

	mu         sync.Mutex // guards what follows
	joined     pairing
	begin, end []*Marker
}

func newPairs(t Target, begin, end []*Marker, how *LatencyOptions, o Options) (pairs, error) {
	if t.Engine == EngineAgent {
		return newAgentPairs(t, begin, end, how, o)
	}
	k := &kernelPairs{how: how, first: len(begin)}
	if err := k.attach(t, slices.Concat(begin, end), o, k); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *kernelPairs) open(how bpf.Options) (_ kernel, err error) {
	k.kernel, err = bpf.NewLatency(k.options.MaxKeys, how)
	return k.kernel, err
}

func (k *kernelPairs) plan(p *plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.joined == (pairing{}) {
		k.joined = k.how.pairing(p.markers)
	}
	p.each(func(s *bpf.Site, pr *probe) {
		name := k.joined.begin
		if s.End = k.ends(p.markers, int(s.Index)); s.End {
			name = k.joined.end
		}
		s.Key = pr.key([]string{name})
	})
}

// ends reports whether a marker of a plan ends pairs.
func (k *kernelPairs) ends(markers []*Marker, i int) bool {
	if k.first >= 0 {
		return i >= k.first
	}
	return k.how.Ends != nil && k.how.Ends(markers[i])
}

func (k *kernelPairs) add(p *plan, pids []int) ([]*bpf.AttachError, error) {
	refused, err := k.kernel.Add(p.files, pids)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, m := range p.markers {
		side := &k.begin
		if k.ends(p.markers, i) {
			side = &k.end
		}
		if !slices.Contains(*side, m) {
			*side = append(*side, m)
		}
	}
	k.first = -1
	return refused, nil
}

func (k *kernelPairs) by() pairing {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.joined
}

func (k *kernelPairs) markers() (begin, end []*Marker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.begin), slices.Clone(k.end)
}

func (k *kernelPairs) read() (*Latencies, error) {
	r, err := k.kernel.Read()
	if err != nil {
		return nil, err
	}
	h := newHistogram(r.Counts, r.Sum, r.Max)
	if k.how.Where != "" {
		r.Ends = min(r.Ends, h.Count()) // of the others nobody knows whether they are missing a begin
	}
	return &Latencies{
		Histogram: h, Begins: r.Begins, Ends: r.Ends, Nested: r.Nested, Unread: r.Unread, Full: r.Full,
	}, nil
}

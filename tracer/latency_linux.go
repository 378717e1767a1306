package tracer

import (
	"slices"

	"github.com/waymark-trace/waymark/internal/bpf"
)

func newPairs(t Target, begin, end []*Marker, by pairing, o Options) (pairs, error) {
	markers := slices.Concat(begin, end)
	p, err := prepare(t, markers, func(marker, _ int) int { return marker })
	if err != nil {
		return nil, err
	}
	defer p.close()
	p.each(func(s *bpf.Site, pr *probe) {
		name := by.begin
		if s.End = int(s.Index) >= len(begin); s.End {
			name = by.end
		}
		s.Key = pr.key([]string{name})
	})
	l, err := bpf.NewLatency(p.files, o.MaxKeys, bpf.Options{PIDs: t.pids(), Mode: forceMode, UserCounters: userCounters(o)})
	if err != nil {
		return nil, p.explain(err)
	}
	if err := checkAttached(t.pids(), markers); err != nil {
		l.Close()
		return nil, err
	}
	return kernelPairs{l}, nil
}

type kernelPairs struct{ *bpf.Latency }

func (k kernelPairs) read() (*Latencies, error) {
	r, err := k.Read()
	if err != nil {
		return nil, err
	}
	return &Latencies{
		Histogram: newHistogram(r.Counts, r.Sum, r.Max),
		Begins:    r.Begins, Ends: r.Ends, Nested: r.Nested, Unread: r.Unread, Full: r.Full,
	}, nil
}

package tracer

import (
	"errors"
	"slices"

	"github.com/waymark-trace/waymark/internal/bpf"
)

func newPairs(t Target, begin, end []*Marker, by pairing, o Options) (pairs, error) {
	markers := slices.Concat(begin, end)
	w, err := newWatcher(t, markers, nil)
	if err != nil {
		return nil, err
	}
	p, err := prepare(t, markers, func(marker, _ int) int { return marker })
	if err != nil {
		w.close()
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
	if err := p.bindWhere(o.Where); err != nil {
		w.close()
		return nil, err
	}
	l, err := bpf.NewLatency(p.files, o.MaxKeys, w.options(t, o))
	if err != nil {
		w.close()
		return nil, p.explain(err)
	}
	k := kernelPairs{l, w, o.Where != ""}
	err = w.begin(nil)
	if err == nil {
		err = checkAttached(t.pids(), markers)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

type kernelPairs struct {
	*bpf.Latency
	w        *watcher
	filtered bool
}

func (k kernelPairs) ended() <-chan struct{} { return k.w.ended() }

func (k kernelPairs) Close() error {
	k.w.halt()
	return errors.Join(k.Latency.Close(), k.w.close())
}

func (k kernelPairs) read() (*Latencies, error) {
	r, err := k.Read()
	if err != nil {
		return nil, err
	}
	if h := newHistogram(r.Counts, r.Sum, r.Max); k.filtered {
		r.Ends = min(r.Ends, h.Count()) // of the others nobody knows whether they are missing a begin
	}
	return &Latencies{
		Histogram: newHistogram(r.Counts, r.Sum, r.Max),
		Begins:    r.Begins, Ends: r.Ends, Nested: r.Nested, Unread: r.Unread, Full: r.Full,
	}, nil
}

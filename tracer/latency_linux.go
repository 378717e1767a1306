package tracer

import (
	"fmt"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
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
	groups     groupKeys
}

func newPairs(t Target, begin, end []*Marker, how *LatencyOptions, o options) (pairs, error) {
	if t.engine == EngineAgent {
		return newAgentPairs(t, begin, end, how, o)
	}
	k := &kernelPairs{how: how, first: len(begin), groups: newGroupKeys(how.By)}
	if err := k.attach(t, slices.Concat(begin, end), o, k); err != nil {
		return nil, err
	}
	if err := k.oneSided(begin, end); err != nil {
		_ = k.Close() // why is in err
		return nil, err
	}
	return k, nil
}

// oneSided reports that of one side, of which there are markers, every site is left out: nothing would be measured.
func (k *kernelPairs) oneSided(begin, end []*Marker) error {
	skipped := k.skipped()
	for _, side := range []struct {
		what    string
		markers []*Marker
	}{{"begins", begin}, {"ends", end}} {
		sites := 0
		for _, m := range side.markers {
			sites += len(m.Sites)
		}
		left := slices.DeleteFunc(slices.Clone(skipped), func(s *SiteError) bool { return !slices.Contains(side.markers, s.Marker) })
		if sites > 0 && len(left) >= sites {
			return fmt.Errorf("nothing %s a pair: %w", side.what, describeSkip(left))
		}
	}
	return nil
}

func (k *kernelPairs) open(how bpf.Options) (_ kernel, err error) {
	groups := 0
	if len(k.how.By) > 0 {
		groups = k.options.maxGroups
	}
	k.kernel, err = bpf.NewLatency(k.options.maxKeys, groups, how)
	return k.kernel, err
}

func (k *kernelPairs) stop() error { return k.attachment.end(k.kernel.Stop) }

func (k *kernelPairs) plan(p *plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.joined == (pairing{}) {
		k.joined = k.how.pairing(p.markers)
	}
	for _, end := range []bool{false, true} { // a name is the begin's, if it is a field there
		for i, m := range p.markers {
			if k.ends(p.markers, i) == end {
				k.groups.see(m)
			}
		}
	}
	p.each(func(s *prog.Site, pr *probe) {
		name := k.joined.begin
		if s.End = k.ends(p.markers, int(s.Index)); s.End {
			name = k.joined.end
		}
		if k.joined.chosen {
			s.Key = prog.Key{pr.builtin(builtin[name])}
		} else {
			s.Key = pr.key([]string{name})
		}
		s.By, s.Own = k.groups.key(pr, s.End)
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
	all := &Latencies{
		Histogram: histogram.New(r.Counts, r.Sum, r.Max),
		Begins:    r.Begins, Ends: r.Ends, Nested: r.Nested, Unread: r.Unread, Full: r.Full,
	}
	if len(k.how.By) > 0 {
		if err := k.readGroups(all); err != nil {
			return nil, err
		}
	}
	if k.how.Where != "" {
		all.Ends = min(all.Ends, all.Count()) // the begins of other ends may be among those that were rejected
	}
	return all, nil
}

// readGroups fills in the keys. The kernel counts each pair once, those that found no room apart from the groups.
func (k *kernelPairs) readGroups(all *Latencies) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	all.Others = all.Histogram.Clone()
	err := k.kernel.Groups(func(raw prog.RawKey, r *prog.Latencies) {
		key := k.groups.decode(raw)
		key.Histogram = histogram.New(r.Counts, r.Sum, r.Max)
		all.Histogram.Merge(&key.Histogram)
		all.Keys = append(all.Keys, key)
	})
	slices.SortFunc(all.Keys, func(a, b KeyLatency) int { return k.groups.order[a.Key] - k.groups.order[b.Key] })
	return err
}

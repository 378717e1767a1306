package tracer

import (
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/internal/bpf"
)

func newCounts(t Target, markers []*Marker, o Options) (counts, error) {
	p, err := prepare(t, markers, func(marker, _ int) int { return marker })
	if err != nil {
		return nil, err
	}
	defer p.close()
	c, err := p.count(markers, o)
	if err != nil {
		return nil, p.explain(err)
	}
	if err := checkAttached(t.pids(), markers); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (p *plan) count(markers []*Marker, o Options) (counts, error) {
	how := bpf.Options{PIDs: p.target.pids(), Mode: forceMode, UserCounters: userCounters(o)}
	if len(o.By) == 0 {
		c, err := bpf.NewCounter(p.files, len(markers), how)
		return kernelCounts{c}, err
	}
	p.each(func(s *bpf.Site, pr *probe) { s.Key = pr.key(o.By) })
	c, err := bpf.NewKeyCounter(p.files, len(markers), o.MaxKeys, how)
	k := &kernelKeys{KeyCounter: c, by: o.By, known: map[string]int{}}
	for _, m := range markers {
		fields := make([]Field, len(o.By))
		for i, name := range o.By {
			fields[i], _ = m.keyField(name)
		}
		k.fields = append(k.fields, fields)
	}
	k.seen = make([][]KeyCount, len(markers))
	return k, err
}

// each calls do for every site, with its probe.
func (p *plan) each(do func(*bpf.Site, *probe)) {
	for f := range p.files {
		for s := range p.files[f].Sites {
			do(&p.files[f].Sites[s], p.at[f][s])
		}
	}
}

type kernelCounts struct{ *bpf.Counter }

func (c kernelCounts) read(out []MarkerCount) error {
	n, err := c.Read()
	for i := range n {
		out[i].Count = n[i]
	}
	return err
}

// kernelKeys turns the kernel's keys into those of a Counter.
type kernelKeys struct {
	*bpf.KeyCounter
	by     []string
	fields [][]Field // by marker

	mu    sync.Mutex     // guards what follows
	known map[string]int // by the kernel's key, the index in seen
	seen  [][]KeyCount   // by marker
}

func (k *kernelKeys) read(out []MarkerCount) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	others, err := k.Read(func(raw bpf.RawKey, n uint64) {
		m := raw.Index()
		if m >= len(k.seen) {
			return // the kernel has no others
		}
		at, ok := k.known[string(raw.Bytes())]
		if !ok {
			at = len(k.seen[m])
			k.known[string(raw.Bytes())] = at
			k.seen[m] = append(k.seen[m], KeyCount{Key: k.decode(raw)})
		}
		k.seen[m][at].Count = n
	})
	if err != nil {
		return err
	}
	for i := range out {
		o := &out[i]
		o.Keys, o.Others, o.Fields = slices.Clone(k.seen[i]), others[i], k.fields[i]
		o.Count = o.Others
		for _, c := range o.Keys {
			o.Count += c.Count
		}
	}
	return nil
}

func (k *kernelKeys) decode(raw bpf.RawKey) *Key {
	key := &Key{Values: make([]Value, len(k.by))}
	for i, name := range k.by {
		key.Values[i] = keyValue(raw, i, name, &k.fields[raw.Index()][i])
	}
	return key
}

package tracer

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/internal/bpf"
)

func newCounts(t Target, markers []*Marker, o Options) (counts, error) {
	w, err := newWatcher(t, markers, o.Later)
	if err != nil {
		return nil, err
	}
	p, err := prepare(t, markers, func(marker, _ int) int { return marker })
	if err != nil {
		w.close()
		return nil, err
	}
	defer p.close()
	if err := p.bindWhere(o.Where); err != nil {
		w.close()
		return nil, err
	}
	c, err := p.count(markers, o, w)
	if err != nil {
		w.close()
		return nil, p.explain(err)
	}
	err = w.begin(c.add)
	if err == nil {
		err = checkAttached(t.pids(), markers)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// growing are counts that can be added to.
type growing interface {
	counts
	add(markers []*Marker, linkers []*File, t Target) error
}

func (p *plan) count(markers []*Marker, o Options, w *watcher) (growing, error) {
	how := w.options(p.target, o)
	if len(o.By) == 0 {
		c, err := bpf.NewCounter(p.files, len(markers), how)
		k := &kernelCounts{Counter: c, w: w, o: o}
		k.know(markers)
		return k, err
	}
	p.each(func(s *bpf.Site, pr *probe) { s.Key = pr.key(o.By) })
	c, err := bpf.NewKeyCounter(p.files, len(markers), o.MaxKeys, how)
	k := &kernelKeys{KeyCounter: c, w: w, all: markers, by: o.By, known: map[string]int{}}
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

// kernelCounts turns the kernel's indices into markers.
type kernelCounts struct {
	*bpf.Counter
	w *watcher
	o Options

	mu  sync.Mutex // guards what follows
	all []*Marker
	at  []int // by the kernel's index: the marker
}

func (c *kernelCounts) add(markers []*Marker, linkers []*File, t Target) error {
	markers, err := withStrings(markers, c.o.Strings, false)
	if err != nil {
		return err
	}
	p, err := prepareLater(t, markers, linkers, func(marker, _ int) int { return marker })
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.bindWhere(c.o.Where); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.Add(p.files, len(markers), c.w.options(t, c.o)); err != nil {
		return p.explain(err)
	}
	c.know(markers)
	return nil
}

// know notes the markers of the kernel's next indices. One that executed itself anew can be
// attached a second time.
func (c *kernelCounts) know(markers []*Marker) {
	for _, m := range markers {
		at := slices.Index(c.all, m)
		if at < 0 {
			at = len(c.all)
			c.all = append(c.all, m)
		}
		c.at = append(c.at, at)
	}
}

func (c *kernelCounts) markers() []*Marker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

func (c *kernelCounts) read(out []MarkerCount) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Read()
	for i := range n {
		if at := c.at[i]; at < len(out) {
			out[at].Count += n[i]
		}
	}
	return err
}

func (c *kernelCounts) ended() <-chan struct{} { return c.w.ended() }

func (c *kernelCounts) Close() error {
	c.w.halt()
	return errors.Join(c.Counter.Close(), c.w.close())
}

// kernelKeys turns the kernel's keys into those of a Counter.
type kernelKeys struct {
	*bpf.KeyCounter
	w      *watcher
	all    []*Marker
	by     []string
	fields [][]Field // by marker

	mu    sync.Mutex     // guards what follows
	known map[string]int // by the kernel's key, the index in seen
	seen  [][]KeyCount   // by marker
}

func (k *kernelKeys) markers() []*Marker { return k.all }

func (k *kernelKeys) add(markers []*Marker, linkers []*File, t Target) error {
	if len(markers) > 0 {
		return fmt.Errorf("attaching to %s: counts by %v are of what is there from the beginning: %w",
			describe(markers), k.by, ErrNotSupported)
	}
	return nil
}

func (k *kernelKeys) ended() <-chan struct{} { return k.w.ended() }

func (k *kernelKeys) Close() error {
	k.w.halt()
	return errors.Join(k.KeyCounter.Close(), k.w.close())
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

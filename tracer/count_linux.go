package tracer

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

func newCounts(t Target, markers []*Marker, o options) (counts, error) {
	if t.engine == EngineAgent {
		return newAgentCounts(t, markers, o)
	}
	if len(o.by) > 0 {
		return newKeys(t, markers, o)
	}
	k := &kernelCounts{}
	if err := k.attach(t, markers, o, k); err != nil {
		return nil, err
	}
	return k, nil
}

// indexed are markers by the index in the kernel.
type indexed struct {
	mu  sync.Mutex // guards what follows
	all []*Marker  // each once
	at  []int      // by index: which of all
}

// know notes the markers of the next indices. One whose process executed itself anew is attached
// a second time. The caller has locked mu.
func (x *indexed) know(markers []*Marker) {
	for _, m := range markers {
		at := slices.IndexFunc(x.all, func(known *Marker) bool { return known.File == m.File && known.FullName() == m.FullName() })
		if at < 0 {
			at = len(x.all)
			x.all = append(x.all, m)
		}
		x.at = append(x.at, at)
	}
}

func (x *indexed) markers() []*Marker {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.all)
}

// kernelCounts are the counts of markers.
type kernelCounts struct {
	attachment
	indexed
	kernel *bpf.Counter
}

func (k *kernelCounts) open(how bpf.Options) (_ kernel, err error) {
	k.kernel, err = bpf.NewCounter(how)
	return k.kernel, err
}

func (k *kernelCounts) stop() error { return k.end(k.kernel.Stop) }

func (k *kernelCounts) plan(*plan) {} // by marker, as they are

func (k *kernelCounts) add(p *plan, pids []int) ([]*bpf.AttachError, error) {
	k.indexed.mu.Lock()
	defer k.indexed.mu.Unlock()
	refused, err := k.kernel.Add(p.files, len(p.markers), pids)
	if err == nil {
		k.know(p.markers)
	}
	return refused, err
}

func (k *kernelCounts) read(out []MarkerCount) error {
	k.indexed.mu.Lock()
	defer k.indexed.mu.Unlock()
	n, err := k.kernel.Read()
	for i := range n {
		if at := k.at[i]; at < len(out) {
			out[at].Count += n[i]
		}
	}
	return err
}

// kernelKeys are the counts of markers by keys.
type kernelKeys struct {
	attachment
	indexed
	kernel *bpf.KeyCounter

	// indexed.mu guards what follows.
	fields [][]event.Field // by marker
	known  map[string]int  // index in seen, by marker and the kernel's key without its index
	seen   [][]KeyCount    // by marker
	name   []byte          // a key of known, reused to save allocations
}

func newKeys(t Target, markers []*Marker, o options) (counts, error) {
	k := &kernelKeys{known: map[string]int{}}
	if err := k.attach(t, markers, o, k); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *kernelKeys) open(how bpf.Options) (_ kernel, err error) {
	k.kernel, err = bpf.NewKeyCounter(k.options.maxKeys, how)
	return k.kernel, err
}

func (k *kernelKeys) stop() error { return k.end(k.kernel.Stop) }

func (k *kernelKeys) plan(p *plan) {
	p.each(func(s *prog.Site, pr *probe) { s.Key = pr.key(k.options.by) })
}

func (k *kernelKeys) add(p *plan, pids []int) ([]*bpf.AttachError, error) {
	k.indexed.mu.Lock()
	defer k.indexed.mu.Unlock()
	refused, err := k.kernel.Add(p.files, len(p.markers), pids)
	if err != nil {
		return nil, err
	}
	k.know(p.markers)
	for _, m := range k.all[len(k.fields):] {
		k.fields, k.seen = append(k.fields, keyFields(m, k.options.by)), append(k.seen, nil)
	}
	return refused, nil
}

func (k *kernelKeys) read(out []MarkerCount) error {
	k.indexed.mu.Lock()
	defer k.indexed.mu.Unlock()
	for _, keys := range k.seen {
		for i := range keys {
			keys[i].Count = 0
		}
	}
	others, err := k.kernel.Read(func(raw prog.RawKey, n uint64) {
		if raw.Index() >= len(k.at) {
			return // the kernel has no others
		}
		m := k.at[raw.Index()]
		k.name = append(binary.NativeEndian.AppendUint32(k.name[:0], uint32(m)), raw.Parts()...)
		at, ok := k.known[string(k.name)]
		if !ok {
			at = len(k.seen[m])
			k.known[string(k.name)] = at
			k.seen[m] = append(k.seen[m], KeyCount{Key: k.decode(raw, m)})
		}
		k.seen[m][at].Count += n
	})
	if err != nil {
		return err
	}
	for i, n := range others {
		if at := k.at[i]; at < len(out) {
			out[at].Others += n
		}
	}
	for i := range out {
		o := &out[i]
		o.Keys, o.Fields = slices.Clone(k.seen[i]), k.fields[i]
		o.Count = o.Others
		for _, c := range o.Keys {
			o.Count += c.Count
		}
	}
	return nil
}

func (k *kernelKeys) decode(raw prog.RawKey, marker int) *Key {
	key := &Key{Values: make([]event.Value, len(k.options.by))}
	for i, name := range k.options.by {
		key.Values[i] = keyValue(raw, i, k.all[marker], name)
	}
	return key
}

package tracer

import (
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/internal/bpf"
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

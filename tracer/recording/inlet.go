package recording

import (
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// inlet carries the events of one source to its channel: packed where the source has batches.
type inlet struct {
	source  source.Source
	stopper source.Stopper // nil for a source that cannot be stopped
	channel *Channel
	reasons []string
	rings   ring.Batcher
	packed  *PackedChannel
}

// ringed is a source that may have rings, of programs whose events it hands over as they lie in memory.
type ringed interface{ Rings() ring.Batcher }

// named is a source that has a name for its channel, and reasons for which it loses events.
type named interface {
	Stream() (name string, reasons []string)
}

// other is the reason for losses that a source gives another one, or none.
const other = "other"

// inlet begins the channel of a source. Batches are taken where the order of events is of no
// interest: with Options.Count the first ones are asked for.
func (w *Writer) inlet(s source.Source) (*inlet, error) {
	in := &inlet{source: s}
	in.stopper, _ = s.(source.Stopper)
	name := "events"
	in.reasons = []string{source.BufferFull, source.NoRing, source.Undescribed, other}
	if n, ok := s.(named); ok {
		var reasons []string
		if name, reasons = n.Stream(); len(reasons) > 0 {
			in.reasons = reasons
		}
	}
	name = w.free(name)
	var err error
	if r, ok := s.(ringed); ok && in.stopper != nil && w.options.Count == 0 {
		in.rings = r.Rings()
	}
	if in.rings != nil {
		in.packed, err = w.PackedChannel(name)
	} else {
		in.channel, err = w.Channel(name, in.reasons...)
	}
	if in.channel != nil && in.stopper != nil { // its losses can be asked for while it is read
		in.channel.losses = in.losses
	}
	return in, err
}

// lose writes the losses of the source to its channel.
func (in *inlet) lose() error {
	byCPU, err := in.losses()
	if err != nil {
		return err
	}
	for cpu, counts := range byCPU {
		if err := in.channel.SetLost(cpu, counts...); err != nil {
			return err
		}
	}
	return nil
}

// losses returns the losses of the source by CPU and reason. A reason that it did not announce counts as the last one.
func (in *inlet) losses() (map[int][]uint64, error) {
	lost, err := in.source.Losses()
	if err != nil {
		return nil, err
	}
	byCPU := map[int][]uint64{}
	for _, l := range lost {
		counts := byCPU[l.CPU]
		if counts == nil {
			counts = make([]uint64, len(in.reasons))
			byCPU[l.CPU] = counts
		}
		i := slices.Index(in.reasons, l.Reason)
		if i < 0 {
			i = len(counts) - 1
		}
		counts[i] += l.Count
	}
	return byCPU, nil
}

// free returns the name, with a number if a channel has it already.
func (w *Writer) free(name string) string {
	taken := map[string]bool{}
	for _, c := range w.all() {
		taken[c.called()] = true
	}
	for base, i := name, 2; taken[name]; i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	return name
}

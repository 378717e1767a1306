package recording

import (
	"fmt"
	"sync"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// PackedChannel records the events of agents. Most of an event is copied as it lay in the program's memory, which the
// types in the trace describe. Its methods may be called from several goroutines.
//
// Process, its name and CPU are the same for all events of a stream, and stand once a packet.
type PackedChannel struct {
	trace *ctf.Writer
	class *ctf.StreamClass
	name  string

	mu      sync.Mutex
	streams map[origin]*packedStream
	order   []*packedStream
	plans   map[*ring.Event]*plan
	events  int // event classes in all
}

// origin is whose events a stream has.
type origin struct{ pid, cpu int }

type packedStream struct {
	*ctf.StreamWriter
	origin
	comm      []byte
	lost      ring.Losses // in the program
	unclassed uint64      // and here, because there were too many event classes
	plans     []*plan     // by the number of the event, of those that the stream had
}

// commSize is what the kernel has for the name of a thread, its NUL included.
const commSize = 16

func newPackedChannel(trace *ctf.Writer, name string) (*PackedChannel, error) {
	packet := &ctf.Struct{Fields: []ctf.Field{
		{Name: "pid", Type: &ctf.Integer{Size: 32, Signed: true}},
		{Name: "comm", Type: &ctf.Array{Len: commSize, Elem: charType}},
		{Name: lostPrefix + source.BufferFull, Type: &ctf.Integer{Size: 64}},
		{Name: lostPrefix + source.NoRing, Type: &ctf.Integer{Size: 64}},
		{Name: lostPrefix + source.Undescribed, Type: &ctf.Integer{Size: 64}},
		{Name: lostPrefix + Classes, Type: &ctf.Integer{Size: 64}},
	}}
	class, err := trace.AlignedStreamClass(nil, packet)
	if err != nil {
		return nil, fmt.Errorf("channel %s: %w", name, err)
	}
	return &PackedChannel{
		trace: trace, class: class, name: name, streams: map[origin]*packedStream{}, plans: map[*ring.Event]*plan{},
	}, nil
}

// Write records what a batch has, and returns how many events it took. The error is that of the trace, which has
// ended, or says what is wrong with an event; one that cannot be recorded is counted as lost.
func (c *PackedChannel) Write(b *ring.Batch) (n uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[origin{b.PID, b.CPU}]
	for run := b.Run(); run != nil; run = b.Run() {
		if s == nil {
			if s, err = c.stream(b); err != nil {
				return n, err
			}
		}
		n += uint64(len(run.Heads))
		if err := c.writeRun(s, run); err != nil {
			return n, err
		}
	}
	lost := b.Lost()
	if s == nil && lost.Total() > 0 {
		if s, err = c.stream(b); err != nil {
			return n, err
		}
	}
	if s != nil && s.lost != lost {
		s.lost = lost
		return n, s.tell()
	}
	return n, nil
}

// stream begins the stream of a batch. The caller holds mu.
func (c *PackedChannel) stream(b *ring.Batch) (*packedStream, error) {
	w, err := c.trace.Stream(c.class, fmt.Sprintf("%s_%d", c.name, b.PID), b.CPU)
	if err != nil {
		return nil, err
	}
	s := &packedStream{StreamWriter: w, origin: origin{b.PID, b.CPU}, comm: make([]byte, commSize)}
	copy(s.comm[:commSize-1], comm(b.Comm))
	c.streams[s.origin] = s
	c.order = append(c.order, s)
	return s, s.tell()
}

// tell says in the stream's packets whose they are and what was lost. The caller holds mu.
func (s *packedStream) tell() error {
	s.SetDiscarded(s.lost.Total() + s.unclassed)
	return s.SetContext([]ctf.Value{
		{Bits: uint64(int64(int32(s.pid)))}, {Text: s.comm},
		{Bits: s.lost.Full}, {Bits: s.lost.NoRing}, {Bits: s.lost.Undescribed}, {Bits: s.unclassed},
	})
}

func (c *PackedChannel) called() string { return c.name }

func (c *PackedChannel) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.order {
		if err := s.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (c *PackedChannel) stats(sum *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.order {
		events, bytes := s.Written()
		sum.Events += events + s.Pending()
		sum.Unsaved += s.Pending()
		sum.Bytes += bytes
		for _, l := range []source.Loss{
			{Reason: source.BufferFull, Count: s.lost.Full}, {Reason: source.NoRing, Count: s.lost.NoRing},
			{Reason: source.Undescribed, Count: s.lost.Undescribed}, {Reason: Classes, Count: s.unclassed},
		} {
			if l.Stream, l.CPU = c.name, s.cpu; l.Count > 0 {
				sum.Lost = append(sum.Lost, l)
			}
		}
	}
}

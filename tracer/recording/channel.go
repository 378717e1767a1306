package recording

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

// Reasons for which a Channel itself loses events.
const (
	Late    = "late"          // it came after too many others that were later
	Classes = "event_classes" // there were too many event classes: markers, with what their fields hold
)

const (
	maxLanes   = 16
	maxStreams = 1 << 13 // CPUs
)

// Channel records the events of one source. Its methods may be called from several goroutines.
type Channel struct {
	trace   *ctf.Writer
	class   *ctf.StreamClass
	name    string
	reasons []string

	mu      sync.Mutex
	streams []*stream // by CPU, nil for those that had nothing yet
	classes map[*event.Point]map[string]*eventClass
	last    *eventClass // of the event before, which is often the next one's
	events  int         // event classes in all
	key     []byte
	comm    string // of the event before, and as a trace has it
	text    []byte
	context [4]ctf.Value
	payload []ctf.Value
	losses  func() (map[int][]uint64, error) // of the source, nil if it cannot be asked
}

// stream is the events of one CPU. A stream of CTF is in the order of time, but a source may deliver an event
// after later ones of its CPU, when whoever noted the time was interrupted before noting the rest. Such an event goes to
// the next lane, a stream of its own, so that each is in order.
type stream struct {
	lanes []*ctf.StreamWriter
	lost  []uint64 // by reason
}

func newChannel(trace *ctf.Writer, name string, reasons []string) (*Channel, error) {
	context := &ctf.Struct{Fields: []ctf.Field{
		{Name: "pid", Type: &ctf.Integer{Size: 32, Signed: true}},
		{Name: "tid", Type: &ctf.Integer{Size: 32, Signed: true}},
		{Name: "comm", Type: &ctf.String{}},
		{Name: "goroutine", Type: &ctf.Integer{Size: 64, Signed: true}},
	}}
	packet := &ctf.Struct{}
	for _, r := range reasons {
		packet.Fields = append(packet.Fields, ctf.Field{Name: lostPrefix + r, Type: &ctf.Integer{Size: 64}})
	}
	class, err := trace.StreamClass(context, packet)
	if err != nil {
		return nil, fmt.Errorf("channel %s: %w", name, err)
	}
	return &Channel{
		trace: trace, class: class, name: name, reasons: reasons,
		classes: map[*event.Point]map[string]*eventClass{},
	}, nil
}

// lostPrefix begins the names of the counts of lost events in packets.
const lostPrefix = "lost_"

// Write records an event, which it does not keep. The error is that of the trace, which has ended; an
// event that cannot be recorded is counted as lost.
func (c *Channel) Write(e *event.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.stream(e.CPU)
	if err != nil {
		return err
	}
	k, err := c.eventClass(e)
	if err != nil {
		return c.lose(s, Classes)
	}
	if c.comm != e.Comm || c.text == nil {
		c.comm, c.text = e.Comm, comm(e.Comm)
	}
	c.context = [...]ctf.Value{
		{Bits: uint64(int64(int32(e.PID)))}, {Bits: uint64(int64(int32(e.TID)))}, {Text: c.text}, {Bits: uint64(e.Goroutine)},
	}
	c.payload = k.values(c.payload[:0], e)
	for i := 0; ; i++ {
		if i == len(s.lanes) {
			if i == maxLanes {
				return c.lose(s, Late)
			}
			lane, err := c.trace.Stream(c.class, fmt.Sprintf("%s_lane%d", c.name, i), e.CPU)
			if err != nil {
				return err
			}
			s.lanes = append(s.lanes, lane)
		}
		err := s.lanes[i].Write(k.class, uint64(e.Time), c.context[:], c.payload)
		if !errors.Is(err, ctf.ErrOrder) {
			return err
		}
	}
}

// stream returns the stream of a CPU. The caller holds mu.
func (c *Channel) stream(cpu int) (*stream, error) {
	if cpu < 0 || cpu >= maxStreams {
		return nil, fmt.Errorf("channel %s: an event of CPU %d", c.name, cpu)
	}
	for len(c.streams) <= cpu {
		c.streams = append(c.streams, nil)
	}
	if c.streams[cpu] == nil {
		lane, err := c.trace.Stream(c.class, c.name, cpu)
		if err != nil {
			return nil, err
		}
		lane.OnFull(c.update)
		c.streams[cpu] = &stream{lanes: []*ctf.StreamWriter{lane}, lost: make([]uint64, len(c.reasons))}
	}
	return c.streams[cpu], nil
}

// lose counts an event as lost. The caller holds mu.
func (c *Channel) lose(s *stream, reason string) error {
	s.lost[slices.Index(c.reasons, reason)]++
	return c.tell(s)
}

// SetLost says how many events of a CPU the source has lost since the beginning, for each of the reasons
// with which the channel began.
func (c *Channel) SetLost(cpu int, counts ...uint64) error {
	if len(counts) != len(c.reasons)-2 {
		return fmt.Errorf("channel %s: %d counts for %d reasons", c.name, len(counts), len(c.reasons)-2)
	}
	if !slices.ContainsFunc(counts, func(n uint64) bool { return n > 0 }) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setLost(cpu, counts)
}

// setLost is SetLost for a caller that holds mu.
func (c *Channel) setLost(cpu int, counts []uint64) error {
	s, err := c.stream(cpu)
	if err != nil {
		return err
	}
	copy(s.lost, counts)
	return c.tell(s)
}

// update asks the source for its losses before a full packet is written: a packet counts all events that were lost
// before its last one, also if the recording is killed before the next. Errors are those of the next save.
func (c *Channel) update() {
	if c.losses == nil {
		return
	}
	byCPU, err := c.losses()
	if err != nil {
		return
	}
	for cpu, counts := range byCPU {
		if cpu < len(c.streams) && c.streams[cpu] != nil {
			_ = c.setLost(cpu, counts)
		}
	}
}

// tell passes on what was lost. The caller holds mu.
func (c *Channel) tell(s *stream) error {
	values := make([]ctf.Value, len(s.lost))
	var total uint64
	for i, n := range s.lost {
		values[i].Bits = n
		total += n
	}
	s.lanes[0].SetDiscarded(total)
	return s.lanes[0].SetContext(values)
}

func (c *Channel) called() string { return c.name }

func (c *Channel) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		if s == nil {
			continue
		}
		for _, lane := range s.lanes {
			if err := lane.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Channel) stats(sum *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cpu, s := range c.streams {
		if s == nil {
			continue
		}
		for _, lane := range s.lanes {
			events, bytes := lane.Written()
			sum.Events += events + lane.Pending()
			sum.Unsaved += lane.Pending()
			sum.Bytes += bytes
		}
		for i, n := range s.lost {
			if n > 0 {
				sum.Lost = append(sum.Lost, source.Loss{Stream: c.name, CPU: cpu, Reason: c.reasons[i], Count: n})
			}
		}
	}
}

package recording

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
)

// Options are how a trace is made. Those from Count on are of Record alone.
type Options struct {
	// Offset is the time from 1970 to the 0 of the clock of events, event.Event.Time. 0 is that of
	// CLOCK_MONOTONIC now.
	Offset time.Duration
	// Env is what readers see of the circumstances, besides host, kernel and boot.
	Env []ctf.EnvEntry
	// PacketSize is ctf.Options.PacketSize.
	PacketSize int

	// Count is the number of events after which Record ends, 0 for no limit.
	Count uint64
	// Interval is the time after which Record saves what is in memory, and calls Progress. 0 is a
	// second. A process that is killed loses what it recorded since.
	Interval time.Duration
	// Progress is called by the goroutine that called Record, which does not save until it returns.
	// nil is none.
	Progress func(Summary)
}

// Writer records a trace. Its methods may be called from several goroutines.
type Writer struct {
	trace   *ctf.Writer
	options Options

	mu       sync.Mutex
	channels []channel
}

// channel is a Channel or a PackedChannel.
type channel interface {
	called() string
	flush() error
	stats(*Stats)
}

// Create begins a trace in a directory, which it makes, or which has to be empty and of this
// process's user, as in ctf.Create. No options are the zero ones.
func Create(dir string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	offset := o.Offset
	if offset == 0 {
		offset = wallOffset()
	}
	clock := ctf.Clock{
		Name: clockName, UUID: bootID(), Description: "CLOCK_MONOTONIC", Freq: uint64(time.Second), Precision: 1, Absolute: true,
		OffsetSeconds: int64(offset / time.Second), Offset: uint64(offset % time.Second),
	}
	if offset%time.Second < 0 {
		clock.OffsetSeconds--
		clock.Offset += uint64(time.Second)
	}
	trace, err := ctf.Create(dir, &ctf.Options{Clock: clock, Env: append(host(), o.Env...), PacketSize: o.PacketSize})
	if err != nil {
		return nil, err
	}
	return &Writer{trace: trace, options: *o}, nil
}

const clockName = "monotonic"

// host says where this is.
func host() []ctf.EnvEntry {
	env := []ctf.EnvEntry{
		Text("domain", "ust"), // user space, for readers that treat LTTng's two domains differently
		Text("tracer_name", "waymark"),
	}
	if name, err := os.Hostname(); err == nil {
		env = append(env, Text("hostname", name))
	}
	return append(env, system()...)
}

// Text is an entry of Options.Env.
func Text(name, text string) ctf.EnvEntry {
	return ctf.EnvEntry{Name: name, Text: text, IsText: true}
}

// Number is an entry of Options.Env.
func Number(name string, n int64) ctf.EnvEntry { return ctf.EnvEntry{Name: name, Number: n} }

// Flush writes what is in memory. A process that is killed loses what was recorded after the last one, but for
// full packets.
func (w *Writer) Flush() error {
	for _, c := range w.all() {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the rest and ends the trace. No channel may be in use.
func (w *Writer) Close() error { return w.trace.Close() }

// Discard ends the trace and removes its files, and leaves the directory empty. No channel may be in use.
func (w *Writer) Discard() error { return w.trace.Discard() }

func (w *Writer) all() []channel {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.channels[:len(w.channels):len(w.channels)]
}

// Stats is what a trace has so far.
type Stats struct {
	Events  uint64        // recorded
	Unsaved uint64        // of them, still in memory: after an error they are lost
	Bytes   uint64        // on disk, without the metadata
	Lost    []source.Loss // in the order of channels, CPUs and reasons
}

// Total returns how many events were lost.
func (s *Stats) Total() uint64 { return source.Total(s.Lost) }

// Stats returns what the trace has so far.
func (w *Writer) Stats() Stats {
	var s Stats
	for _, c := range w.all() {
		c.stats(&s)
	}
	return s
}

// Channel begins a group of streams, one a CPU, whose files have its name. Reasons are why its source loses
// events, as words; Late and Classes are its own. All packets carry these counts, and their sum as the number of discarded events.
func (w *Writer) Channel(name string, reasons ...string) (*Channel, error) {
	return add(w, name, func() (*Channel, error) {
		return newChannel(w.trace, name, append(reasons[:len(reasons):len(reasons)], Late, Classes))
	})
}

// PackedChannel begins a group of streams for ring.Batch, one for each process and CPU.
func (w *Writer) PackedChannel(name string) (*PackedChannel, error) {
	return add(w, name, func() (*PackedChannel, error) { return newPackedChannel(w.trace, name) })
}

// add adds a channel whose name is the only one.
func add[C channel](w *Writer, name string, begin func() (C, error)) (c C, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.channels {
		if other.called() == name {
			return c, fmt.Errorf("a second channel %s: %w", name, os.ErrExist)
		}
	}
	if c, err = begin(); err == nil {
		w.channels = append(w.channels, c)
	}
	return c, err
}

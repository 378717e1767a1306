package ctf

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Options are the properties of a new trace.
type Options struct {
	UUID UUID // the zero one: a random one
	// Clock is the one of all timestamps. Freq is nanoseconds when it is 0.
	Clock Clock
	Env   []EnvEntry
	// PacketSize is at how many bytes a packet is written, rounded up to 4096; 0 is 256 KiB. A packet is
	// larger when one event is.
	PacketSize int
}

const (
	defaultPacket = 256 << 10
	maxClasses    = 1 << 16 // IDs have 16 bits
)

// Writer writes a trace. Its methods may be called from several goroutines.
type Writer struct {
	dir *directory
	o   Options

	mu      sync.Mutex
	env     []EnvEntry
	streams []*StreamClass
	files   map[string]*StreamWriter
	c       compiler
	header  *node // of packets
	stale   bool  // the metadata on disk lacks something
	err     error // the error that ended the trace
}

// ErrStopped is returned by all writes after a failed one, and wraps its error.
var ErrStopped = errors.New("the trace has ended")

// Create begins a trace in a directory, which it makes, or which has to be empty and of this
// process's user: another one's is ErrForeign, and a symbolic link is not followed. No options are the zero ones.
func Create(dir string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	w := &Writer{o: *o, env: o.Env, files: map[string]*StreamWriter{}, stale: true}
	if w.o.PacketSize <= 0 {
		w.o.PacketSize = defaultPacket
	}
	w.o.PacketSize = pages(w.o.PacketSize)
	clock := &w.o.Clock
	if clock.Freq == 0 {
		clock.Freq = second
	}
	if clock.Name == "" {
		clock.Name = "monotonic"
	}
	if !isWord(clock.Name) {
		return nil, fmt.Errorf("clock %q: a name is letters, digits and underscores", clock.Name)
	}
	if w.o.UUID == (UUID{}) {
		if _, err := rand.Read(w.o.UUID[:]); err != nil {
			return nil, err
		}
		w.o.UUID[6], w.o.UUID[8] = w.o.UUID[6]&0xf|0x40, w.o.UUID[8]&0x3f|0x80 // RFC 9562, version 4
	}
	w.c = compiler{order: LittleEndian, clocks: map[string]*Clock{clock.Name: clock}, lone: clock}
	var err error
	if w.header, err = w.c.root(packetHeader, packetHeaderType()); err != nil {
		return nil, err
	}
	if w.dir, err = openDirectory(dir); err != nil {
		return nil, err
	}
	if err := w.describe(); err != nil {
		w.dir.Close()
		return nil, err
	}
	return w, nil
}

// StreamClass adds a class of streams. Every event of them has the fields of context. Every packet has the
// fields of packet, which are integers or arrays of characters, in addition to those of all packets. Both
// may be nil. A sequence's length and a variant's tag are fields of the same struct, here and in
// EventClass.
func (w *Writer) StreamClass(context, packet *Struct) (*StreamClass, error) {
	return w.streamClass(&StreamClass{EventHeader: eventHeaderType(w.o.Clock.Name), EventContext: context}, packet)
}

// AlignedStreamClass is StreamClass for events that the caller has encoded: StreamWriter.Append.
func (w *Writer) AlignedStreamClass(context, packet *Struct) (*StreamClass, error) {
	return w.streamClass(&StreamClass{EventHeader: alignedHeaderType(w.o.Clock.Name), EventContext: context, aligned: true}, packet)
}

func (w *Writer) streamClass(s *StreamClass, packet *Struct) (*StreamClass, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.ID, s.PacketContext = uint64(len(w.streams)), packetContextType(w.o.Clock.Name)
	if packet != nil {
		for _, f := range packet.Fields {
			if a, ok := f.Type.(*Array); integerOf(f.Type) == nil && !(ok && isText(a.Elem)) {
				return nil, fmt.Errorf("context of packets: field %s is no integer, nor an array of characters", f.Name)
			}
		}
		s.PacketContext.Fields = append(s.PacketContext.Fields, packet.Fields...)
	}
	var err error
	if s.nodes.packetContext, err = w.compile(packetContext, s.PacketContext); err != nil {
		return nil, err
	}
	if s.nodes.eventHeader, err = w.compile(eventHeader, s.EventHeader); err != nil {
		return nil, err
	}
	if s.nodes.eventContext, err = w.compile(streamEventContext, s.EventContext); err != nil {
		return nil, err
	}
	w.streams, w.stale = append(w.streams, s), true
	return s, nil
}

// EventClass adds a kind of events, which streams of one class have. Several may have one name.
func (w *Writer) EventClass(s *StreamClass, name string, payload *Struct) (*EventClass, error) {
	return w.AlignedEventClass(s, name, nil, payload)
}

// AlignedEventClass is EventClass for an AlignedStreamClass. Its event classes may have a context of their
// own, in addition to that of the stream class; nil is none.
func (w *Writer) AlignedEventClass(s *StreamClass, name string, context, payload *Struct) (*EventClass, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(s.Events) == maxClasses {
		return nil, fmt.Errorf("event %s: more than %d kinds of events", name, maxClasses)
	}
	if context != nil && !s.aligned {
		return nil, fmt.Errorf("event %s: a context of its own: %w", name, errNotAligned)
	}
	e := &EventClass{ID: uint64(len(s.Events)), Name: name, Stream: s, LogLevel: -1, Context: context, Payload: payload}
	var err error
	if e.context, err = w.compile(eventContext, context); err == nil {
		e.payload, err = w.compile(eventPayload, payload)
	}
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", name, err)
	}
	s.Events, w.stale = append(s.Events, e), true
	return e, nil
}

// compile compiles a struct that refers to none of the others.
func (w *Writer) compile(s scope, t *Struct) (*node, error) {
	if err := checkNames(t); err != nil {
		return nil, err
	}
	w.c.roots, w.c.slots, w.c.fields = [scopes]*node{}, 0, 0
	return w.c.root(s, t)
}

// AddEnv adds to the environment, which readers see as a whole.
func (w *Writer) AddEnv(entries ...EnvEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.env, w.stale = append(w.env[:len(w.env):len(w.env)], entries...), true
}

// Dir returns the directory of the trace.
func (w *Writer) Dir() string { return w.dir.path }

// sorted returns the streams by name.
func (w *Writer) sorted() []*StreamWriter {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*StreamWriter
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		all = append(all, w.files[name])
	}
	return all
}

// fail keeps the first error and returns it in the form of later calls.
func (w *Writer) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("%w: %w", ErrStopped, err)
	}
	return w.err
}

func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close writes the events that streams still hold and closes them. It returns the first error of all. No stream may be in use.
func (w *Writer) Close() error {
	err := w.end()
	_ = w.dir.Close() // its files are closed
	return err
}

// Discard closes a trace and removes its files. The directory stays, and is empty.
func (w *Writer) Discard() error {
	_ = w.end() // events that were not written are not missed
	var errs []error
	for _, s := range w.sorted() {
		errs = append(errs, named(w.dir.path, w.dir.Remove(s.name)))
	}
	errs = append(errs, named(w.dir.path, w.dir.Remove("metadata")), w.dir.Close())
	return errors.Join(errs...)
}

// end is Close but for the directory.
func (w *Writer) end() error {
	for _, s := range w.sorted() {
		_ = s.Flush() // fail has noted it
	}
	err := w.failed()
	if err == nil {
		if err = w.describe(); err != nil {
			err = w.fail(err)
		}
	}
	for _, s := range w.sorted() {
		if e := s.file.Close(); err == nil && e != nil {
			err = w.fail(e)
		}
	}
	return err
}

// describe brings the metadata on disk up to date: another file is renamed over it, so that it is whole at any time.
func (w *Writer) describe() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stale {
		return nil
	}
	if err := w.dir.replace("metadata", nextMetadata, w.metadata()); err != nil {
		return err
	}
	w.stale = false
	return nil
}

// nextMetadata is the name of the metadata until they are whole. Readers skip names with a dot.
const nextMetadata = ".metadata.new"

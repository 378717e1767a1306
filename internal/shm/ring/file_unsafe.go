package ring

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/clock"
)

// File is a file of rings as the program that records has it. Other processes may write to its
// memory, so the program never acts on a value that it loads from there: it keeps private copies
// of the positions and counts that it publishes.
type File struct {
	path    string
	memory  []byte
	release func() error
	sealed  *os.File // nil unless Options.Sealed
	g       geometry
	info    Info
	header  *header
	writers []Writer

	mu      sync.Mutex // of the table and the clock pairs
	events  int
	entries uint64 // bytes of the table that are written
	pairs   uint64 // clock pairs that were written
}

// Create makes the file, which must not exist, and maps it. All of its space is reserved. Without a
// path the rings are in memory of the process, and only Reader of the File reads them; that works on every platform.
// With Options.Sealed they are in memory that other processes can map, too.
//
// The directory is the caller's to have made safe.
func Create(path string, o Options) (*File, error) {
	f, err := create(path, o)
	if err != nil {
		return nil, fmt.Errorf("creating rings: %w", err)
	}
	return f, nil
}

func create(path string, o Options) (*File, error) {
	g, err := o.geometry()
	if err != nil {
		return nil, err
	}
	if o.Info.Clock == 0 {
		o.Info.Clock = clock.Best()
	}
	o.Info.describe(&g, wordSize)
	text, err := json.Marshal(&o.Info)
	if err != nil {
		return nil, err
	}
	if len(text) > infoMax {
		return nil, fmt.Errorf("the description of the program has %d bytes, more than %d", len(text), infoMax)
	}
	if g.size() > 1<<(8*wordSize-2) {
		return nil, fmt.Errorf("%d bytes do not fit this platform's memory", g.size())
	}
	f := &File{path: path, g: g, info: o.Info}
	if o.Sealed {
		f.memory, f.sealed, f.release, err = createSealed(int64(g.size()))
	} else if path == "" {
		words := make([]uint64, g.size()/8)
		f.memory = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), g.size())
		f.release = func() error { return nil }
	} else {
		f.memory, f.release, err = createMapped(path, int64(g.size()))
	}
	if err != nil {
		return nil, err
	}
	f.header = (*header)(f.at(0))
	copy(f.memory[infoAt:], text)
	h := f.header
	h.page, h.rings, h.subs, h.sub, h.table = uint32(g.page), uint32(g.rings), uint32(g.subs), g.sub, g.table
	h.version, h.mode, h.clock, h.word, h.info = version, uint32(g.mode), uint32(o.Info.Clock), uint32(wordSize), uint32(len(text))
	h.state = stateAlive
	f.Sync()
	f.writers = make([]Writer, g.rings)
	for i := range f.writers {
		f.writers[i].init(f, uint64(i))
	}
	atomic.StoreUint64(&h.magic, magic) // from now on it is one
	return f, nil
}

const wordSize = int(unsafe.Sizeof(uintptr(0)))

func (i *Info) describe(g *geometry, word int) {
	i.Mode, i.Rings, i.RingSize, i.SubBuffers, i.WordSize = g.mode, int(g.rings), g.ringSize(), int(g.subs), word
}

func (f *File) at(offset uint64) unsafe.Pointer { return unsafe.Pointer(&f.memory[offset]) }

// Path returns the file's name, "" of rings in memory.
func (f *File) Path() string { return f.path }

// OpenSealed opens sealed rings for another process, with flags as of os.OpenFile. The descriptor
// is the caller's.
func (f *File) OpenSealed(flags int) (*os.File, error) {
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.sealed.Fd()), flags, 0)
}

// Info returns what the file says of the program.
func (f *File) Info() Info { return f.info }

// Writers returns the rings' writers, one for each P.
func (f *File) Writers() []Writer { return f.writers }

// MaxRecord returns how many bytes a record can have, its header included.
func (f *File) MaxRecord() uint64 { return min(f.g.sub-subHeaderSize, maxRecord) }

// Counters returns how many events a ring that only counts has room for.
func (f *File) Counters() int { return int(min(f.g.ringSize()/8, maxEvents)) }

// Counts calls fn with what each ring's writer has counted by now.
func (f *File) Counts(fn func(events, full, filtered, truncated uint64)) {
	for i := range f.writers {
		w := &f.writers[i]
		fn(atomic.LoadUint64(&w.events), atomic.LoadUint64(&w.full), atomic.LoadUint64(&w.filtered), atomic.LoadUint64(&w.truncated))
	}
}

// Lost returns how many events were lost that no ring counts.
func (f *File) Lost() (noRing, undescribed uint64) {
	return atomic.LoadUint64(&f.header.noRing), atomic.LoadUint64(&f.header.other)
}

// Define adds an event to the table and returns its number.
func (f *File) Define(e *Event) (int, error) {
	if err := e.check(wordSize); err != nil {
		return 0, err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, size := f.entries, up(8+uint64(len(text)), 8)
	if f.events >= maxEvents || len(text) > maxDescription || size > f.g.table-at {
		return 0, errTable
	}
	entry := f.memory[f.g.tableAt()+at:]
	*(*uint64)(unsafe.Pointer(&entry[0])) = uint64(len(text))
	copy(entry[8:], text)
	f.entries = at + size
	atomic.StoreUint64(&f.header.entries, f.entries)
	f.events++
	return f.events - 1, nil
}

// Sync notes what the clocks say. Readers convert the ticks of events by such pairs; the first and
// the newest pairSlots-1 are kept.
func (f *File) Sync() {
	p, ok := clock.Read(f.info.Clock)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.pairs
	s := &f.header.pair[slotOf(n)]
	atomic.StoreUint64(&s.number, 0)
	fence()
	atomic.StoreUint64(&s.ticks, p.Ticks)
	atomic.StoreInt64(&s.monotonic, p.Monotonic)
	atomic.StoreInt64(&s.wall, p.Wall)
	atomic.StoreUint64(&s.number, n+1)
	f.pairs = n + 1
	atomic.StoreUint64(&f.header.pairs, f.pairs)
}

// slotOf returns where pair n is: the first stays, for events from before the others.
func slotOf(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 + (n-1)%(pairSlots-1)
}

// LoseNoRing counts an event whose processor has no ring. Any goroutine may call it.
func (f *File) LoseNoRing() { atomic.AddUint64(&f.header.noRing, 1) }

// LoseUndescribed counts an event that has no description. Any goroutine may call it.
func (f *File) LoseUndescribed() { atomic.AddUint64(&f.header.other, 1) }

// End says that nothing will be written any more. The caller has seen to it that no writer is
// inside.
func (f *File) End() {
	f.Sync()
	atomic.StoreUint64(&f.header.state, stateEnded)
}

// Close unmaps the file and leaves it where it is. No writer may be inside, and none of the
// File's methods be called afterwards.
func (f *File) Close() error { return f.release() }

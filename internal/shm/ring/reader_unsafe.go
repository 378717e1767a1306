package ring

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/clock"
)

// Reader reads the rings of a file, of a program that runs or has died. It believes nothing that
// is written there: what it says is bounded by the file's size, and a record is copied out before it is looked at. It
// is not for concurrent use.
type Reader struct {
	name    string
	memory  []byte
	words   []byte // the consumed pages, nil when they cannot be written
	release func() error

	g      geometry
	info   Info
	header *header

	events    []*Event
	described uint64 // bytes of the table that were read
	converter clock.Converter
	pairs     uint64 // that were read
	firstPair int64  // that this reader took, and when it takes the next
	nextPair  int64
	cursors   []cursor

	stored uint64 // bytes of the file outside holes
	most   uint64 // bytes that may be copied out of the file
	copied uint64
}

// LimitError reports that reading a ring file with holes takes more than its budget, which keeps a small
// file from taking much time and memory by declaring large rings.
type LimitError struct {
	Stored uint64 // bytes that the file stores
	Max    uint64 // bytes that may be read: sparseBase, and sparseTimes as many as it stores
}

const (
	sparseBase  = 64 << 20
	sparseTimes = 16
)

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d bytes to read: the limit for a file with holes is %d MiB and %d times the %d bytes that it stores",
		e.Max, sparseBase>>20, sparseTimes, e.Stored)
}

// Open maps a file of rings; f may be closed then. Opened for writing, too, it can be given back space
// by Consume. Only the words that say so are mapped writable.
func Open(f *os.File) (*Reader, error) {
	r, err := open(f)
	if err != nil {
		return nil, fmt.Errorf("opening rings %s: %w", f.Name(), err)
	}
	return r, nil
}

func open(f *os.File) (*Reader, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	first := make([]byte, infoAt+infoMax)
	if n, err := f.ReadAt(first, 0); n < len(first) {
		return nil, fmt.Errorf("its header has %d bytes of %d: %w", n, len(first), err)
	}
	r := &Reader{name: f.Name()}
	if err := r.understand(first); err != nil {
		return nil, err
	}
	size := r.g.size()
	if uint64(stat.Size()) < size || size > 1<<(8*wordSize-2) {
		return nil, fmt.Errorf("it has %d bytes, its header says %d", stat.Size(), size)
	}
	if r.stored, r.most = stored(stat), math.MaxUint64; r.stored < size {
		r.most = sparseBase + sparseTimes*r.stored
	}
	r.memory, r.words, r.release, err = mapForReading(f, size, r.g.consumedAt(0), r.g.dataAt(0))
	if err != nil {
		return nil, err
	}
	return r, r.begin()
}

// Reader returns a reader of rings in the process's own memory, or of the file.
func (f *File) Reader() (*Reader, error) {
	r := &Reader{name: f.path, memory: f.memory, g: f.g, info: f.info, most: math.MaxUint64, release: func() error { return nil }}
	r.words = f.memory[f.g.consumedAt(0):f.g.dataAt(0)]
	return r, r.begin()
}

// understand reads the header's fixed part from a copy.
func (r *Reader) understand(first []byte) error {
	h := (*header)(unsafe.Pointer(unsafe.SliceData(first)))
	switch {
	case h.magic != magic:
		return fmt.Errorf("it does not begin as rings of this kind of machine do, but with %016x", h.magic)
	case h.version != version:
		return fmt.Errorf("it has version %d, this waymark reads version %d: rebuild the program with this waymark and record again", h.version, version)
	case h.info > infoMax:
		return fmt.Errorf("a description of %d bytes", h.info)
	case h.word != 4 && h.word != 8:
		return fmt.Errorf("pointers of %d bytes", h.word)
	}
	r.g = geometry{page: uint64(h.page), rings: uint64(h.rings), subs: uint64(h.subs), sub: h.sub, table: h.table, mode: Mode(h.mode)}
	if err := r.g.check(); err != nil {
		return err
	}
	if err := json.Unmarshal(first[infoAt:infoAt+h.info], &r.info); err != nil {
		return fmt.Errorf("description of the program: %w", err)
	}
	r.info.Clock = clock.Kind(h.clock)
	r.info.describe(&r.g, int(h.word))
	return nil
}

func (r *Reader) begin() error {
	r.header = (*header)(r.at(0))
	r.cursors = make([]cursor, r.g.rings)
	for i := range r.cursors {
		r.cursors[i].init(r, uint64(i))
	}
	return nil
}

func (r *Reader) at(offset uint64) unsafe.Pointer { return unsafe.Pointer(&r.memory[offset]) }

// Close unmaps the file.
func (r *Reader) Close() error { return r.release() }

// Info returns what the file says of the program.
func (r *Reader) Info() Info { return r.info }

// Rings returns how many there are.
func (r *Reader) Rings() int { return int(r.g.rings) }

// Ended reports whether the program has said that nothing will be written any more. What was
// written before can be read then.
func (r *Reader) Ended() (ended bool, err error) {
	err = r.guard(func() error { ended = atomic.LoadUint64(&r.header.state) == stateEnded; return nil })
	return ended, err
}

// Events returns the events that are described by now, by number. The caller must not change them.
func (r *Reader) Events() ([]*Event, error) {
	err := r.guard(r.readTable)
	return r.events, err
}

// Hits returns how often an event was, in all rings of a file that only counts.
func (r *Reader) Hits(event int) (sum uint64, err error) {
	if event < 0 || uint64(event) >= r.g.ringSize()/8 {
		return 0, fmt.Errorf("%s: no counter of event %d", r.name, event)
	}
	err = r.guard(func() error {
		for i := range r.cursors {
			sum += atomic.LoadUint64((*uint64)(unsafe.Pointer(&r.cursors[i].data[8*event])))
		}
		return nil
	})
	return sum, err
}

// readTable reads what was added to the table.
func (r *Reader) readTable() error {
	entries := atomic.LoadUint64(&r.header.entries)
	if entries > r.g.table || entries%8 != 0 {
		return r.errorf(uint64(unsafe.Offsetof(r.header.entries)), "a table of %d bytes, with room for %d", entries, r.g.table)
	}
	for r.described < entries {
		at := r.g.tableAt() + r.described
		size := atomic.LoadUint64((*uint64)(r.at(at))) // once: the program may change it
		if size > maxDescription || up(8+size, 8) > entries-r.described || len(r.events) >= maxEvents {
			return r.errorf(at, "description of event %d has %d bytes, %d are left", len(r.events), size, entries-r.described)
		}
		text := append([]byte{}, r.memory[at+8:at+8+size]...)
		e, err := decodeEvent(text, len(r.events), r.info.WordSize)
		if err != nil {
			return r.errorf(at, "%w", err)
		}
		r.events = append(r.events, e)
		r.described += up(8+size, 8)
	}
	return nil
}

// readPairs reads what the program noted of its clocks, and the clocks themselves where they are the same ones.
func (r *Reader) readPairs() {
	n := min(atomic.LoadUint64(&r.header.pairs), 1<<62)
	if n == r.pairs {
		return
	}
	first := max(r.pairs, n-min(n, pairSlots-1))
	if r.pairs == 0 && n > 0 {
		first = min(first, 1)
		r.readPair(0)
	}
	for i := max(first, n-min(n, pairSlots-1)); i < n; i++ {
		r.readPair(i)
	}
	r.pairs = n
}

func (r *Reader) readPair(i uint64) {
	s := &r.header.pair[slotOf(i)]
	if atomic.LoadUint64(&s.number) != i+1 {
		return
	}
	p := clock.Pair{Ticks: atomic.LoadUint64(&s.ticks), Monotonic: atomic.LoadInt64(&s.monotonic), Wall: atomic.LoadInt64(&s.wall)}
	fence()
	if atomic.LoadUint64(&s.number) == i+1 {
		r.converter.Add(p)
	}
}

// errorf returns an error that names the file and the offset.
func (r *Reader) errorf(offset uint64, format string, args ...any) error {
	return fmt.Errorf("%s: offset 0x%x: %w", r.name, offset, fmt.Errorf(format, args...))
}

var order = binary.NativeEndian

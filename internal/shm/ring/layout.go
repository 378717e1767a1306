package ring

import (
	"errors"
	"fmt"
	"math/bits"
)

// The file, in the byte order and the word size of the machine:
//
//	header    infoAt + infoMax bytes, whole pages    see header
//	table     event descriptions                     append-only, published by header.table
//	control   a page for each ring                   its writer's: see control
//	consumed  a page for each ring                   its reader's: one word
//	data      for each ring, sub-buffers             its writer's
//
// All offsets follow from the geometry in the header, so that a reader has nothing to believe but
// a few bounded numbers.
const (
	magic   = 0x676e6972796177ff // "\xffwayring"
	version = 3

	infoAt  = 4096
	infoMax = 8192

	controlSize = 4096 // at least: a whole page of the machine

	maxRings   = 4096
	maxTable   = 16 << 20
	minSub     = 512
	maxSub     = 1 << 30
	maxSubs    = 1 << 16
	maxRing    = 1 << 36
	maxPage    = 1 << 16
	pairSlots  = 64
	stateAlive = 1
	stateEnded = 2
)

// header is the beginning of the file. The target writes it; after Create only the words at the end change.
type header struct {
	magic   uint64
	version uint32
	page    uint32 // bytes
	rings   uint32
	subs    uint32 // sub-buffers of a ring, a power of two
	sub     uint64 // bytes of a sub-buffer, a power of two
	table   uint64 // bytes that the table has room for
	mode    uint32
	clock   uint32
	word    uint32 // bytes of a pointer in the target
	info    uint32 // bytes of Info, as JSON, at infoAt

	state   uint64 // stateAlive, stateEnded
	entries uint64 // bytes of the table that are written
	noRing  uint64 // events lost because their processor has no ring: added to atomically
	other   uint64 // events lost for want of a description: added to atomically
	pairs   uint64 // how many pairs were written: the slot of pair i is 0 for the first, then 1 + (i-1) % (pairSlots-1)
	_       [4]uint64
	pair    [pairSlots]filePair
}

// filePair is a clock.Pair. number is written last, so that a reader can tell one that is being replaced.
type filePair struct {
	number, ticks   uint64
	monotonic, wall int64
}

// control is what a ring's writer says. Each word is written by the writer alone, after what it speaks of.
type control struct {
	head      uint64 // everything before it is complete
	oldest    uint64 // what is before it is being overwritten, or was
	full      uint64 // events lost because there was no room
	filtered  uint64 // events that a filter kept out
	truncated uint64 // events of which a text was cut
}

// consumed is what a ring's reader says, the position last.
type consumed struct {
	position uint64 // what is before it may be overwritten
	events   uint64 // how many of the ring's were read, at the position at
	at       uint64
}

// subHeader begins every sub-buffer.
type subHeader struct {
	position uint64 // of this sub-buffer: which lap it belongs to
	events   uint64 // written to the ring before it
	full     uint64 // lost before it
	recordContext
}

// recordContext is what the records after it have in common, until the next: what their times count from, and the
// number of their goroutine, 0 where it is not known.
type recordContext struct {
	ticks     uint64
	goroutine uint64
}

// A record is a word and arguments, a multiple of 8 bytes in all. The word is
//
//	bits  0–31  ticks since those of the context
//	bits 32–47  its length, in words of 8 bytes
//	bits 48–63  the event's number in the table, or one of those below
//
// Events of one goroutine mostly follow each other, and soon: so a record is 16 bytes less than one that
// has it all.
const (
	subHeaderSize = 40
	contextSize   = 8 + 16

	padding    = 0xffff // the rest of the sub-buffer; the length is that of this word
	newContext = 0xfffe // a context follows
	maxEvents  = 0xfff0

	maxRecord = 0xffff * 8
	timeBits  = 32
)

// RecordHeader is what a record has besides its arguments.
const RecordHeader = 8

// header word of a record without its time.
func recordWord(event, size uint64) uint64 { return event<<48 | size/8<<timeBits }

// Mode says what happens when a ring is full.
type Mode uint32

const (
	Discard   Mode = iota // new events are dropped and counted
	Overwrite             // the oldest sub-buffer is overwritten: a flight recorder
	Count                 // nothing is recorded: a ring is a word for each event, how often it was
)

func (m Mode) String() string {
	switch m {
	case Discard:
		return "discard"
	case Overwrite:
		return "overwrite"
	case Count:
		return "count"
	}
	return fmt.Sprintf("Mode(%d)", uint32(m))
}

// geometry is where things are.
type geometry struct {
	page, rings, subs, sub, table uint64
	mode                          Mode
}

func (g *geometry) ringSize() uint64    { return g.subs * g.sub }
func (g *geometry) tableAt() uint64     { return up(infoAt+infoMax, g.page) }
func (g *geometry) controlSize() uint64 { return up(controlSize, g.page) }
func (g *geometry) controlAt(ring uint64) uint64 {
	return g.tableAt() + up(g.table, g.page) + ring*g.controlSize()
}
func (g *geometry) consumedAt(ring uint64) uint64 {
	return g.controlAt(g.rings) + ring*g.controlSize()
}
func (g *geometry) dataAt(ring uint64) uint64 { return g.consumedAt(g.rings) + ring*g.ringSize() }
func (g *geometry) size() uint64              { return up(g.dataAt(g.rings), g.page) }

func up(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// check bounds what may come from a file, so that no sum of these overflows.
func (g *geometry) check() error {
	power := func(n uint64) bool { return bits.OnesCount64(n) == 1 }
	switch {
	case g.rings == 0 || g.rings > maxRings:
		return fmt.Errorf("%d rings, not 1 to %d", g.rings, maxRings)
	case !power(g.page) || g.page < 4096 || g.page > maxPage:
		return fmt.Errorf("a page of %d bytes", g.page)
	case !power(g.sub) || g.sub < minSub || g.sub > maxSub:
		return fmt.Errorf("a sub-buffer of %d bytes, not a power of two from %d to %d", g.sub, minSub, maxSub)
	case !power(g.subs) || g.subs < 2 || g.subs > maxSubs:
		return fmt.Errorf("%d sub-buffers, not a power of two from 2 to %d", g.subs, maxSubs)
	case g.ringSize() > maxRing:
		return fmt.Errorf("a ring of %d bytes, more than %d", g.ringSize(), uint64(maxRing))
	case g.table > maxTable:
		return fmt.Errorf("a table of %d bytes, more than %d", g.table, maxTable)
	case g.mode > Count:
		return errors.New("the mode is " + g.mode.String())
	}
	return nil
}

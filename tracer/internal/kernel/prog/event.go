package prog

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// An event in the ring, in the byte order of the machine:
//
//	 0  time       uint64    CLOCK_MONOTONIC in nanoseconds
//	 8  pid<<32|tid uint64  in this process's PID namespace, 0 for processes that it does not show
//	16  goroutine  uint64    its number, 0 when not known
//	24  failed     uint64    bit i: value i, or of a record the text of string i, could not be
//	                         read; bit 32+i: text i; bit 63: the record
//	32  site       uint32    the site's index
//	36  cpu        uint32
//	40  slot       uint32    size in bytes of each string slot
//	44  -          uint32    zero
//	48  comm       [16]byte  the thread's name, zero-terminated
//	64  own pid<<32|tid uint64  the same in the PID namespace that the process is in, when that is below
//	                         this process's and Options.OwnPIDs asks for it, else 0
//	72  body
//
// The body of a plan with a record is the record's bytes, padded to 8, then one slot for each
// string. A string's length in full is in the record; its slot holds the first bytes of it.
// The body of a plan without one is 8 bytes for each value, of which the low Size bytes count,
// then one slot for each text. One that a NUL ends has it in the slot.
const (
	offTime      = 0
	offProcess   = 8
	offGoroutine = 16
	offFailed    = 24
	offSite      = 32
	offCPU       = 36
	offSlot      = 40
	offPad       = 44
	offComm      = 48
	offOwn       = 64
	offBody      = 72
	commSize     = 16
)

// failedRecord is the bit of a record that could not be read.
const failedRecord = 63

// Raw is an event as the kernel wrote it. Body is valid until the next read.
type Raw struct {
	Time     uint64
	PID, TID int
	// OwnPID and OwnTID are their numbers in a PID namespace below this process's.
	OwnPID, OwnTID int

	Goroutine uint64
	Failed    uint64
	Site      uint32
	CPU       uint32
	Slot      int
	Comm      [commSize]byte
	Body      []byte
}

// RecordFailed reports whether the plan's record could not be read.
func (r *Raw) RecordFailed() bool { return r.Failed>>failedRecord != 0 }

// ValueFailed reports whether value i could not be read.
func (r *Raw) ValueFailed(i int) bool { return r.Failed>>i&1 != 0 }

// TextFailed reports whether string i of a plan p could not be read.
func (r *Raw) TextFailed(p *Plan, i int) bool { return r.Failed>>p.textBit(i)&1 != 0 }

// TimeOf returns the time of an event, 0 if it has none. Every byte is taken to be arbitrary.
func TimeOf(b []byte) uint64 {
	if len(b) < offTime+8 {
		return 0
	}
	return binary.NativeEndian.Uint64(b[offTime:])
}

// Decode reads an event. Every byte is taken to be arbitrary.
func (r *Raw) Decode(b []byte) error {
	if len(b) < offBody {
		return fmt.Errorf("event of %d bytes, shorter than its header", len(b))
	}
	e := binary.NativeEndian
	r.Time = e.Uint64(b[offTime:])
	process := e.Uint64(b[offProcess:])
	r.PID, r.TID = int(process>>32), int(uint32(process))
	own := e.Uint64(b[offOwn:])
	r.OwnPID, r.OwnTID = int(own>>32), int(uint32(own))
	r.Goroutine = e.Uint64(b[offGoroutine:])
	r.Failed = e.Uint64(b[offFailed:])
	r.Site = e.Uint32(b[offSite:])
	r.CPU = e.Uint32(b[offCPU:])
	r.Slot = int(min(e.Uint32(b[offSlot:]), maxSlot))
	r.Comm = [commSize]byte(b[offComm:])
	r.Body = b[offBody:]
	return nil
}

// Value returns the 8 bytes of value i of a plan without a record; ok is false when the event
// has no such value.
func (r *Raw) Value(i int) (v uint64, ok bool) {
	if i < 0 || i >= len(r.Body)/8 {
		return 0, false
	}
	return binary.NativeEndian.Uint64(r.Body[8*i:]), true
}

// Field returns size bytes at an offset of the record.
func (r *Raw) Field(offset, size int) ([]byte, bool) {
	if offset < 0 || size < 0 || size > len(r.Body) || offset > len(r.Body)-size {
		return nil, false
	}
	return r.Body[offset : offset+size], true
}

// Text returns what was kept of string i of a plan p, whose length is n. A NUL ends the one
// that has no length, whatever n is.
func (r *Raw) Text(p *Plan, i int, n uint64) ([]byte, bool) {
	if i < 0 || i >= p.strings() {
		return nil, false
	}
	at := p.bodySize() + i*r.Slot
	if at+r.Slot > len(r.Body) {
		return nil, false
	}
	slot := r.Body[at : at+r.Slot]
	if len(p.Texts) > 0 && p.Texts[i].terminated() {
		if end := bytes.IndexByte(slot, 0); end >= 0 {
			slot = slot[:end]
		}
	}
	return slot[:min(n, uint64(len(slot)))], true
}

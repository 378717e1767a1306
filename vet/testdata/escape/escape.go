// Package escape has arguments that make local variables escape to the heap.
package escape

import (
	"bytes"
	"unsafe"

	"github.com/waymark-trace/waymark/marker"
)

type point struct {
	x, y int
	buf  [16]byte
	next *point
}

type blob []byte

func (b blob) String() string { return string(b) }

var (
	raw     = marker.New1[[]byte]("escape:raw", "raw %x")
	named   = marker.New1[blob]("escape:named", "raw %x")
	styled  = marker.New1[marker.Text[blob]]("escape:styled", "raw %s")
	at      = marker.New1[unsafe.Pointer]("escape:at", "at %p")
	address = marker.New1[uintptr]("escape:address", "at %x")
)

var global point

func local(p *point, given point, b []byte) {
	var buf [64]byte
	var v point
	raw.Mark(buf[:])                                // want `buf\[:\] makes the local variable buf escape to the heap, armed or not; write if raw.Enabled\(\) { … } and pass bytes.Clone of it, or another copy, there`
	raw.Mark(buf[1:8][:2])                          // want `local variable buf`
	named.Mark(blob(v.buf[:3]))                     // want `local variable v escape`
	styled.Mark(marker.TextOf(blob(buf[:])))        // want `local variable buf`
	named.Mark(given.buf[:3])                       // want `local variable given`
	at.Mark(unsafe.Pointer(&v))                     // want `local variable v escape .* and pass a copy of it made there`
	at.Mark(unsafe.Pointer(&v.y))                   // want `local variable v`
	at.Mark(unsafe.Pointer(&buf[3]))                // want `local variable buf`
	at.Mark(unsafe.Pointer((&(given))))             // want `local variable given`
	raw.Mark((&buf)[:])                             // want `local variable buf`
	address.Mark(uintptr(unsafe.Pointer(&global)))  // not local
	address.Mark(uintptr(unsafe.Pointer(&given.y))) // a number leads nowhere
	raw.Mark(global.buf[:])
	raw.Mark(p.buf[:])
	raw.Mark(v.next.buf[:])
	at.Mark(unsafe.Pointer(&p.next.x))
	at.Mark(unsafe.Pointer(&b[0]))
	raw.Mark(b[:3])
}

func guarded(n int) {
	var buf [64]byte
	var v point
	if raw.Enabled() {
		raw.Mark(buf[:n]) // want `local variable buf`
		raw.Mark(bytes.Clone(buf[:n]))
	}
	if at.Enabled() {
		v := v
		at.Mark(unsafe.Pointer(&v))
	}
	if !at.Enabled() {
		return
	}
	at.Mark(unsafe.Pointer(&v)) // want `local variable v`
	w := v
	at.Mark(unsafe.Pointer(&w))
	raw.Mark(buf[:]) //waymark:ignore buf is on the heap anyway
}

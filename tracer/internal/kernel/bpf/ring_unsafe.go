//go:build linux

package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringMemory is a ring buffer's memory as the kernel maps it: kernel/bpf/ringbuf.c, ringbuf_map_mmap_user.
type ringMemory struct {
	// consumer and producer are bytes since the beginning, unsigned longs that wrap around.
	consumer, producer *atomic.Uintptr
	// data is the ring twice in a row, so that a record which wraps around is in one piece.
	data []byte

	consumerPage, producerPages []byte
}

// mapRing maps the ring buffer of a descriptor, whose size is a power of two.
func mapRing(fd, size int) (m ringMemory, err error) {
	page := os.Getpagesize()
	if m.consumerPage, err = unix.Mmap(fd, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return m, fmt.Errorf("mapping the ring's consumer page: %w", err)
	}
	if m.producerPages, err = unix.Mmap(fd, int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return m, errors.Join(fmt.Errorf("mapping the ring's data: %w", err), m.unmap())
	}
	m.consumer = (*atomic.Uintptr)(unsafe.Pointer(&m.consumerPage[0]))
	m.producer = (*atomic.Uintptr)(unsafe.Pointer(&m.producerPages[0]))
	m.data = m.producerPages[page:]
	return m, nil
}

// header returns the first word of the record that begins at an offset. Atomic, because the kernel
// clears its busy bit after it has written the record.
func (m *ringMemory) header(at uintptr) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&m.data[at])))
}

func (m *ringMemory) unmap() (err error) {
	for _, pages := range [][]byte{m.consumerPage, m.producerPages} {
		if pages != nil {
			err = errors.Join(err, unix.Munmap(pages))
		}
	}
	*m = ringMemory{}
	return err
}

package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// The first word of a record: its length and two flags. Records begin at multiples of 8: include/uapi/linux/bpf.h.
const (
	ringHeader  = 8
	ringBusy    = unix.BPF_RINGBUF_BUSY_BIT
	ringDiscard = unix.BPF_RINGBUF_DISCARD_BIT
)

// batchSize is how many bytes are taken out of a ring at a time, but for the rest of a record.
const batchSize = 64 << 10

// eventRing takes records out of a BPF ring buffer. take and wait are for one goroutine at a time, the other
// methods for any.
//
// The kernel wakes the reader for a record that begins where the reader says it is: that is an interrupt and a
// wake-up for each event as long as the reader keeps up, paid by the traced program. So while events come
// fast the reader says that it is at the last record it took, one behind, and looks again after a nap;
// only when they come slowly it says where it really is, and sleeps until it is woken. (ringbuf.Reader of
// cilium/ebpf tells its position after each record.)
type eventRing struct {
	fd     int
	size   uintptr
	nap    time.Duration // 0: the ring is too small to sleep while events come
	closed atomic.Bool
	alarm  *os.File // an eventfd
	bell   int      // its descriptor

	mu     sync.Mutex // of whoever reads or waits
	memory ringMemory
	next   uintptr // the position behind the last record that was taken
	last   uintptr // where that began
	taken  int     // records since the last wait
	brisk  bool    // the last sleep was shorter than a nap
}

func newEventRing(m *ebpf.Map) (*eventRing, error) {
	r := &eventRing{fd: m.FD(), size: uintptr(m.MaxEntries()), nap: napOf(uint64(m.MaxEntries()), runtime.NumCPU())}
	var err error
	if r.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("making an eventfd: %w", err)
	}
	r.alarm = os.NewFile(uintptr(r.bell), "eventfd")
	if r.memory, err = mapRing(r.fd, int(m.MaxEntries())); err != nil {
		return nil, errors.Join(err, r.alarm.Close())
	}
	return r, nil
}

const (
	longestNap  = time.Millisecond
	shortestNap = 100 * time.Microsecond // what costs about as much as it saves
	// fillRate is how many bytes of events a CPU makes in a second at most: one of 112 every 300 ns, thrice over.
	fillRate = 1 << 30
	// readRate is how many times that a reader takes out at most: with more, it loses, awake or not.
	readRate = 8
)

// napOf is how long the reader of a ring may sleep without being woken: until all CPUs together may
// have filled a quarter of it.
func napOf(size uint64, cpus int) time.Duration {
	nap := time.Duration(size / 4 * uint64(time.Second) / fillRate / uint64(min(cpus, readRate)))
	if nap < shortestNap {
		return 0
	}
	return min(nap, longestNap)
}

// take moves what is there to batch, whose memory it uses again; nothing is none.
func (r *eventRing) take(batch []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return nil, os.ErrClosed
	}
	end, produced := r.next, r.memory.producer.Load()
	for end != produced && end-r.next < batchSize {
		header := r.memory.header(end & (r.size - 1))
		if header&ringBusy != 0 {
			break // being written: those behind it wait, too
		}
		n := recordSize(header)
		if n > produced-end {
			return nil, fmt.Errorf("record of %d bytes at position %d of the ring, which ends at %d", n, end, produced)
		}
		r.last = end
		end += n
		r.taken++
	}
	from := r.next & (r.size - 1)
	batch = append(batch[:0], r.memory.data[from:from+end-r.next]...)
	if end != r.next {
		r.next = end
		r.memory.consumer.Store(r.last)
	}
	return batch, nil
}

// recordSize is how much of the ring a record takes.
func recordSize(header uint32) uintptr {
	return ringHeader + (uintptr(header&^(ringBusy|ringDiscard))+7)&^7
}

// cutRecord returns the first record of a batch, and the rest. A nil record is the end.
func cutRecord(batch []byte) (record, rest []byte) {
	for len(batch) >= ringHeader {
		header := binary.NativeEndian.Uint32(batch)
		n := recordSize(header)
		if n > uintptr(len(batch)) {
			return nil, nil
		}
		record, batch = batch[ringHeader:ringHeader+header&^(ringBusy|ringDiscard)], batch[n:]
		if header&ringDiscard == 0 {
			return record, batch
		}
	}
	return nil, nil
}

// wait returns when there may be something to take, or soon after wake. It takes no longer than limit, or than
// it takes where that is negative.
func (r *eventRing) wait(limit time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return os.ErrClosed
	}
	fast := r.taken > 1 || r.brisk
	r.taken, r.brisk = 0, false
	switch {
	case r.nap > 0 && limit >= 0:
		return r.poll(min(r.nap, limit), r.bell) // it looks again soon anyway, and nobody need wake it
	case r.nap > 0 && fast:
		return r.poll(r.nap, r.bell)
	}
	// Either the kernel sees this position when it has written a record, and wakes; or the record's place is
	// seen here: both sides have a full barrier in between.
	r.memory.consumer.Store(r.next)
	if r.memory.producer.Load() != r.next {
		if r.memory.header(r.next&(r.size-1))&ringBusy != 0 { // its writer may have been preempted, even by us
			return r.poll(shortestNap, r.bell)
		}
		return nil
	}
	start := time.Now()
	err := r.poll(limit, r.bell, r.fd)
	r.brisk = time.Since(start) < r.nap
	return err
}

// poll waits for the alarm and for other descriptors, for as long as given if that is not negative.
func (r *eventRing) poll(limit time.Duration, fds ...int) error {
	var list [2]unix.PollFd
	for i, fd := range fds {
		list[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	var timeout *unix.Timespec
	if limit >= 0 {
		t := unix.NsecToTimespec(limit.Nanoseconds())
		timeout = &t
	}
	if _, err := unix.Ppoll(list[:len(fds)], timeout, nil); err != nil && err != unix.EINTR {
		return fmt.Errorf("waiting for events: %w", err)
	}
	if list[0].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(r.bell, count[:]) // nothing to read: somebody's wake was seen before
	}
	return nil
}

// wake makes wait return, if not this one then the next.
func (r *eventRing) wake() {
	one := [8]byte{}
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = r.alarm.Write(one[:]) // after close nobody waits
}

// close wakes whoever waits and frees the memory. Further calls do nothing.
func (r *eventRing) close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.wake()
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.memory.unmap(), r.alarm.Close())
}

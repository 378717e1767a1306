package ring

import "sync/atomic"

// Beyond returns what is in a ring behind what is published, up to n bytes and the end of the ring, and
// whether the writer was about to begin a sub-buffer.
func (r *Reader) Beyond(ring, n int) (b []byte, head uint64) {
	c := &r.cursors[ring]
	head = atomic.LoadUint64(&c.control.head)
	at := head & (r.g.ringSize() - 1)
	return c.data[at:min(at+uint64(n), r.g.ringSize())], head
}

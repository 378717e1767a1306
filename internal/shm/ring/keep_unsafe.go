package ring

import "sync/atomic"

// Keep copies what rings that overwrite hold now, each ring at once, and from then on the reader reads the copies: for who wants
// what is there, and not what comes. At full rate a writer goes round a small ring in some milliseconds; copying
// keeps ahead of it, which taking records apart does not. It is to come before the first Next. Of a ring that writers
// overtake again and again nothing is copied, and it is read as without Keep; so are rings of more than mostKept bytes, which
// no writer goes round so soon, or of more than half of the budget of a file with holes.
func (r *Reader) Keep() error {
	size := r.g.ringSize()
	if r.g.mode != Overwrite || size*r.g.rings > min(mostKept, r.most/2) {
		return nil
	}
	room := make([]byte, size*r.g.rings)
	return r.guard(func() error {
		r.touch(room)
		for i := range r.cursors {
			r.cursors[i].keep(&r.g, room[uint64(i)*size:][:size])
		}
		return nil
	})
}

// mostKept bounds what a file can make its reader allocate.
const mostKept = 512 << 20

// touch has the pages of both sides mapped, which takes longer than copying, before anything is copied.
func (r *Reader) touch(room []byte) {
	from := r.memory[r.g.dataAt(0):]
	for i := uint64(0); i < uint64(len(room)); i += r.g.page {
		room[i] = from[i]
	}
}

// keep copies a ring into room, the oldest sub-buffer first, as that is the next to be overwritten.
func (c *cursor) keep(g *geometry, room []byte) {
	mask := g.ringSize() - 1
	for range attempts {
		head := atomic.LoadUint64(&c.control.head)
		from := c.floor(g)
		if head%8 != 0 || head > 1<<62 || from%g.sub != 0 || from > head || head-from > g.ringSize() {
			continue // the writer has gone round meanwhile, or Next will say what is wrong
		}
		overtaken := false
		for start := from; start < head && !overtaken; start += g.sub {
			at := start & mask
			copy(room[at:], c.data[at:at+min(g.sub, head-start)])
			fence() // the copy comes before the look whether it was good
			overtaken = c.floor(g) > start
		}
		if overtaken {
			continue
		}
		c.control = &control{
			head: head, oldest: from, full: atomic.LoadUint64(&c.control.full),
			filtered: atomic.LoadUint64(&c.control.filtered), truncated: atomic.LoadUint64(&c.control.truncated),
		}
		c.data = room
		return
	}
}

package ctf

import (
	"container/heap"
	"errors"
	"io"
)

// Reader returns events of several streams in the order of their time. Next is for one goroutine at a time.
type Reader struct {
	streams []*Stream
	heads   heads // streams with their next event; the first one's was returned when moved is false
	moved   bool
	errs    []error
}

// head is the next event of a stream.
type head struct {
	stream *Stream
	event  *Event
	order  int
}

// NewReader reads all streams of the traces. Where times are equal, the order is that of the traces and
// of their Streams.
func NewReader(traces ...*Trace) *Reader {
	r := &Reader{}
	for _, t := range traces {
		r.streams = append(r.streams, t.Streams...)
	}
	for i, s := range r.streams {
		if e, err := s.Next(); err == nil {
			r.heads = append(r.heads, head{s, e, i})
		} else {
			r.fail(err)
		}
	}
	heap.Init(&r.heads)
	r.moved = true
	return r
}

// Next returns the next event of all, and io.EOF after the last. Any other error is the end of
// one stream: the events of the others follow.
func (r *Reader) Next() (*Event, error) {
	if !r.moved {
		r.advance()
	}
	if len(r.errs) > 0 {
		err := r.errs[0]
		r.errs = r.errs[1:]
		return nil, err
	}
	if len(r.heads) == 0 {
		return nil, io.EOF
	}
	r.moved = false
	return r.heads[0].event, nil
}

// advance reads the next event of the stream whose event was returned.
func (r *Reader) advance() {
	first := &r.heads[0]
	var err error
	if first.event, err = first.stream.Next(); err == nil {
		heap.Fix(&r.heads, 0)
	} else {
		heap.Remove(&r.heads, 0)
		r.fail(err)
	}
	r.moved = true
}

func (r *Reader) fail(err error) {
	if !errors.Is(err, io.EOF) || errors.As(err, new(*Error)) {
		r.errs = append(r.errs, err)
	}
}

// Close closes all streams.
func (r *Reader) Close() {
	for _, s := range r.streams {
		s.Close()
	}
}

// heads are a heap: the earliest event is first.
type heads []head

func (h heads) Len() int      { return len(h) }
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(head)) }

func (h heads) Less(i, j int) bool {
	if h[i].event.Time != h[j].event.Time {
		return h[i].event.Time < h[j].event.Time
	}
	return h[i].order < h[j].order
}

func (h *heads) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// consumer reads all rings of a file and writes them to another: as they are, as LTTng's consumer does with
// its sub-buffers, or event by event with its time.
type consumer struct {
	r      *ring.Reader
	out    *os.File
	buffer []byte
	raw    bool
}

func newConsumer(how, path, out string) (*consumer, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &consumer{raw: how == "raw"}
	if c.r, err = ring.Open(f); err != nil {
		return nil, err
	}
	c.out, err = os.Create(out)
	return c, err
}

// run looks as often as waymark record does.
func (c *consumer) run() {
	for pace := (ring.Pace{}); ; {
		ended, err := c.r.Ended()
		fatal(err)
		filled := c.round()
		if ended && filled == 0 {
			fatal(c.out.Close())
			return
		}
		time.Sleep(pace.Next(filled))
	}
}

// round reads what there is, and returns what part of a ring that was, at most.
func (c *consumer) round() (filled float64) {
	for i := range c.r.Rings() {
		before := c.r.Position(i)
		c.read(i)
		filled = max(filled, float64(c.r.Position(i)-before)/float64(c.r.Info().RingSize))
	}
	return filled
}

func (c *consumer) read(i int) {
	if c.raw {
		_, err := c.r.CopyTo(i, c.out)
		fatal(err)
		fatal(c.r.Consume(i))
		return
	}
	for {
		rec, err := c.r.Next(i)
		fatal(err)
		if rec == nil {
			break
		}
		c.buffer = binary.NativeEndian.AppendUint64(c.buffer, uint64(rec.Monotonic))
		c.buffer = append(c.buffer, rec.Args...)
		if len(c.buffer) > 128<<10 {
			c.flush(i)
		}
	}
	c.flush(i)
}

func (c *consumer) flush(ring int) {
	if len(c.buffer) > 0 {
		_, err := c.out.Write(c.buffer)
		fatal(err)
		c.buffer = c.buffer[:0]
	}
	fatal(c.r.Consume(ring))
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorded:", err)
		os.Exit(1)
	}
}

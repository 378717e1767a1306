package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/waymark-trace/waymark/internal/ring"
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

// run polls as often as there was something, from every millisecond to every tenth of a second.
func (c *consumer) run() {
	for pause := time.Millisecond; ; {
		ended, err := c.r.Ended()
		fatal(err)
		n := c.round()
		if ended && n == 0 {
			fatal(c.out.Close())
			return
		}
		if n > 0 {
			pause = time.Millisecond
		} else {
			pause = min(2*pause, 100*time.Millisecond)
		}
		time.Sleep(pause)
	}
}

// round reads what there is, and returns how much that was.
func (c *consumer) round() (n int64) {
	for i := range c.r.Rings() {
		if c.raw {
			written, err := c.r.CopyTo(i, c.out)
			fatal(err)
			fatal(c.r.Consume(i))
			n += written
			continue
		}
		for {
			rec, err := c.r.Next(i)
			fatal(err)
			if rec == nil {
				break
			}
			n++
			c.buffer = binary.NativeEndian.AppendUint64(c.buffer, uint64(rec.Monotonic))
			c.buffer = append(c.buffer, rec.Args...)
			if len(c.buffer) > 128<<10 {
				c.flush(i)
			}
		}
		c.flush(i)
	}
	return n
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

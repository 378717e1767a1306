package agentconn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/ring"
	"github.com/waymark-trace/waymark/internal/wire"
	"golang.org/x/sys/unix"
)

// Kept yields the events that a recording has Kept.
type Kept struct{ *Events }

// NewKept returns the events of a ring file.
func NewKept(s *Source) *Kept {
	k := &Kept{&Events{
		sessions: []*Session{{Source: *s}}, closing: make(chan struct{}), halted: make(chan struct{}),
	}}
	close(k.halted)
	return k
}

func (k *Kept) Read(ctx context.Context, e *event.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.Events.Read(ctx, e)
}

func (*Kept) Stop() error { return nil }

func (*Kept) Order() source.Order { return source.ByTime }

func (k *Kept) Close() (err error) {
	k.once.Do(func() {
		close(k.closing)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.closed = true
		err = k.sessions[0].Reader.Close()
	})
	return err
}

// Snapshot reads what a recording has kept until now.
func (c *Conn) Snapshot(name string) (*Kept, error) {
	_, f, err := c.AskFile(&wire.Request{Do: wire.Ring, Name: name})
	if err != nil {
		return nil, Refusal(err)
	}
	defer f.Close()
	s, err := ReadRing(f)
	if err != nil {
		return nil, err
	}
	s.PID = c.PID
	if err := s.Keep(); err != nil {
		s.Close()
		return nil, err
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		s.Close()
		return nil, fmt.Errorf("reading the clock: %w", err)
	}
	s.last = time.Duration(now.Nano())
	return NewKept(s), nil
}

// ReadRing prepares to read a ring file.
func ReadRing(f *os.File) (*Source, error) {
	r, err := ring.Open(f)
	if err != nil {
		return nil, err
	}
	info := r.Info()
	comm := filepath.Base(info.Executable)
	return &Source{
		Reader: r, PID: info.PID, comm: comm[:min(len(comm), 15)],
	}, nil
}

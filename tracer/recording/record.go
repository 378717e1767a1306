package recording

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// End is the reason why a recording ended.
type End uint8

const (
	// EndContext means that the context was done.
	EndContext End = iota
	// EndCount means that there were Options.Count events.
	EndCount
	// EndSources means that all sources returned io.EOF.
	EndSources
	// EndError means that the trace could not be written, or that a source failed.
	EndError
)

// Summary is how far a recording is, and at last how it went.
type Summary struct {
	Stats
	// Received is the number of events that sources returned, at most Options.Count.
	Received uint64
	// End is the reason of the end. It is EndContext as long as the recording goes on.
	End End
}

// Saved returns the number of events on disk.
func (s *Summary) Saved() uint64 { return s.Events - s.Unsaved }

// Unwritten returns the number of events that were received and are neither on disk nor counted in
// Lost.
func (s *Summary) Unwritten() uint64 {
	done := s.Saved()
	for _, l := range s.Lost {
		if l.Reason == Late || l.Reason == Classes { // received, and lost by their channel
			done += l.Count
		}
	}
	return s.Received - min(done, s.Received)
}

// Record records the events of sources in a new trace until it ends: the context is done, there are
// Options.Count events, all sources returned io.EOF, or something failed, which is the error. It is
// Create followed by Writer.Record. With Options.Offset 0 the trace has the clock of the first
// source.
func Record(ctx context.Context, dir string, o *Options, sources ...source.Source) (Summary, error) {
	var with Options
	if o != nil {
		with = *o
	}
	if with.Offset == 0 && len(sources) > 0 {
		with.Offset = time.Duration(sources[0].Clock().Wall(0).UnixNano())
	}
	w, err := Create(dir, &with)
	if err != nil {
		return Summary{End: EndError}, err
	}
	return w.Record(ctx, sources...)
}

// Record records the events of sources, which have one clock, that of the trace. It reads each
// source in a goroutine of its own, saves every Options.Interval, and ends as function Record does.
//
// Then it stops the sources that are a source.Stopper, records the events that they still hold, and
// closes the trace. It does not close sources. Until it returns they are its own, except for the
// methods that a Stopper allows to any goroutine. Other sources have to return from Read when its
// context is done; their losses are recorded at the end. The files of a source have the name that its
// method Stream returns, as that of tracer.Tracer does, or "events".
//
// A canceled context is no error. The error is the first one of the trace, which wraps
// ctf.ErrStopped, or of a source. The trace on disk is valid nevertheless, and the Summary is that
// of it. After an error of the trace sources are still read to their end, and their events counted.
func (w *Writer) Record(ctx context.Context, sources ...source.Source) (Summary, error) {
	p := &pump{w: w, enough: make(chan struct{}), failed: make(chan struct{})}
	for _, s := range sources {
		in, err := w.inlet(s)
		if err != nil {
			_ = w.Close()
			return Summary{End: EndError}, err
		}
		p.inlets = append(p.inlets, in)
	}
	return p.run(ctx)
}

// defaultInterval is how much a recording loses that is killed.
const defaultInterval = time.Second

// pump is one call of Writer.Record.
type pump struct {
	w      *Writer
	inlets []*inlet

	received atomic.Uint64
	enough   chan struct{} // closed when there are Options.Count events
	failed   chan struct{} // closed when there is an error
	once     sync.Once     // of enough

	mu  sync.Mutex
	err error // the first one
}

func (p *pump) run(ctx context.Context) (Summary, error) {
	// The sources are read until the recording ends, which ctx is one reason for.
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var readers sync.WaitGroup
	for _, in := range p.inlets {
		readers.Go(func() {
			err := p.read(reading, in)
			if reading.Err() != nil && in.stopper == nil && errors.Is(err, context.Canceled) {
				err = nil // the recording is over
			}
			p.fail(err)
		})
	}
	over := make(chan struct{})
	go func() {
		readers.Wait()
		close(over)
	}()
	end := p.wait(ctx, over)
	for _, in := range p.inlets {
		if in.stopper != nil {
			p.fail(in.stopper.Stop())
		}
	}
	cancel()
	<-over
	p.save(true)
	p.fail(p.w.Close())
	if errors.Is(p.err, ctf.ErrStopped) {
		end = EndError
	}
	return p.summary(end), p.err
}

// wait saves after every interval, and returns why the recording ends.
func (p *pump) wait(ctx context.Context, over <-chan struct{}) End {
	interval := p.w.options.Interval
	if interval <= 0 {
		interval = defaultInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return EndContext
		case <-p.enough:
			return EndCount
		case <-p.failed:
			return EndError
		case <-over:
			select {
			case <-p.failed:
				return EndError
			case <-p.enough:
				return EndCount
			default:
				return EndSources
			}
		case <-ticker.C:
			p.save(false)
			if f := p.w.options.Progress; f != nil {
				f(p.summary(EndContext))
			}
		}
	}
}

// read records the events of a source until it has no more.
func (p *pump) read(ctx context.Context, in *inlet) error {
	if in.stopper != nil {
		ctx = context.WithoutCancel(ctx) // Stop ends it
	}
	if in.packed != nil {
		return p.readBatches(ctx, in)
	}
	return p.readEvents(ctx, in)
}

// readEvents records events one by one. After an error of the trace it goes on to count them.
func (p *pump) readEvents(ctx context.Context, in *inlet) error {
	failed := false
	var e event.Event
	for {
		err := in.source.Read(ctx, &e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := p.received.Add(1)
		if limit := p.w.options.Count; limit > 0 && n >= limit {
			p.once.Do(func() { close(p.enough) })
			if n > limit {
				p.received.Add(^uint64(0)) // it came while the recording ended
				if in.stopper == nil {
					return nil
				}
				continue
			}
		}
		if !failed {
			if err := in.channel.Write(&e); err != nil {
				p.fail(err)
				failed = true
			}
		}
	}
}

// readBatches does the same for an agent, a batch at a time.
func (p *pump) readBatches(ctx context.Context, in *inlet) error {
	failed := false
	return in.rings.Batches(ctx, func(b *ring.Batch) {
		if !failed {
			n, err := in.packed.Write(b)
			p.received.Add(n)
			p.fail(err)
			failed = err != nil
		}
		for failed {
			run := b.Run()
			if run == nil {
				break
			}
			p.received.Add(uint64(len(run.Heads)))
		}
	})
}

// save brings the trace on disk up to date. Last means that no source is being read any more.
func (p *pump) save(last bool) {
	for _, in := range p.inlets {
		if in.channel != nil && (last || in.stopper != nil) {
			p.fail(in.lose())
		}
	}
	p.fail(p.w.Flush())
}

// fail notes the first error, which ends the recording.
func (p *pump) fail(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.failed)
	}
}

func (p *pump) summary(end End) Summary {
	return Summary{Stats: p.w.Stats(), Received: p.received.Load(), End: end}
}

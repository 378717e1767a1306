package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// byDisk is the end of a recording that could not be written.
const byDisk end = "disk"

// saveInterval is how much a recording that is killed loses.
const saveInterval = time.Second

// recorder is one recording.
type recorder struct {
	s        *session
	o        *recordOptions
	trace    *recording.Writer
	sources  []recordSource
	channels []*recording.Channel
	view     *recordView
	missing  string // the first directory on the way to the trace that was not there, "" for none

	received atomic.Uint64
	enough   chan struct{} // closed when there are as many events as -n asks for
	full     chan struct{} // closed when the trace cannot be written
	once     sync.Once
	fullOnce sync.Once

	mu  sync.Mutex
	err error // why the trace could not be written, or read from an engine
}

func runRecord(ctx context.Context, env *Env, o *recordOptions, sel *selection) (err error) {
	s, err := env.openSession(ctx, sel)
	if err != nil {
		return err
	}
	out, err := env.openOutput("", s.command != nil) // of the summary
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	r := &recorder{s: s, o: o, enough: make(chan struct{}), full: make(chan struct{})}
	r.missing = missingDirectory(o.out)
	if r.trace, err = recording.Create(o.out, &recording.Options{Env: s.circumstances()}); err != nil {
		s.abandon()
		removeEmpty(o.out, r.missing)
		return explainDirectory(o.out, err)
	}
	done := s.attaching()
	r.sources, err = s.sources(o)
	done()
	if err != nil {
		r.drop()
		return err
	}
	defer r.closeSources()
	s.ended = r.sources[0].Ended()
	if err := r.beginChannels(); err != nil {
		r.drop()
		return err
	}
	ends, err := s.begin(ctx, r.skipped(), o.duration, out)
	if err != nil {
		r.drop()
		return err
	}
	r.view = newRecordView(env, out, o)
	why, failure := r.run(ends)
	status := s.finish(ctx, why)
	if e := r.view.summary(r, why); failure == nil {
		failure = e
	}
	if failure != nil {
		return explainDisk(failure)
	}
	return status
}

// beginChannels begins what each source writes to.
func (r *recorder) beginChannels() error {
	for _, source := range r.sources {
		var c *recording.Channel
		var err error
		if p, ok := source.(*packedSource); ok {
			err = p.begin(r.trace)
		} else {
			name, reasons := source.channel()
			c, err = r.trace.Channel(name, reasons...)
		}
		if err != nil {
			return err
		}
		r.channels = append(r.channels, c)
	}
	return nil
}

// drop ends a recording that never began, and takes its trace back: what is left would be in the way of the next attempt.
func (r *recorder) drop() {
	r.s.abandon()
	_ = r.trace.Close()
	if os.Remove(filepath.Join(r.o.out, "metadata")) == nil {
		removeEmpty(r.o.out, r.missing)
	}
}

// skipped are the sites that no source has.
func (r *recorder) skipped() (all []*tracer.SiteError) {
	for _, source := range r.sources {
		all = append(all, source.Skipped()...)
	}
	return all
}

func (r *recorder) closeSources() {
	for _, source := range r.sources {
		source.Close()
	}
}

// run records until the session ends, and all that was collected until then.
func (r *recorder) run(ends <-chan end) (end, error) {
	var reading sync.WaitGroup
	for i := range r.sources {
		reading.Go(func() { r.read(r.sources[i], r.channels[i]) })
	}
	why := r.wait(ends)
	for _, source := range r.sources {
		r.fail(source.Stop())
	}
	reading.Wait()
	r.save()
	if err := r.trace.Close(); err != nil {
		r.fail(err)
	}
	r.view.done()
	if r.err != nil && errors.Is(r.err, ctf.ErrStopped) {
		why = byDisk
	}
	return why, r.err
}

// wait saves once a second, and returns why the session ends.
func (r *recorder) wait(ends <-chan end) end {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case why := <-ends:
			return why
		case <-r.enough:
			return byCount
		case <-r.full:
			return byDisk
		case <-ticker.C:
			r.save()
			r.view.progress(r)
		}
	}
}

// read records the events of a source. When the trace cannot be written it goes on to count them.
func (r *recorder) read(source recordSource, channel *recording.Channel) {
	var err error
	if p, ok := source.(*packedSource); ok {
		err = r.readPacked(p)
	} else {
		err = r.readEvents(source, channel)
	}
	if err != nil {
		r.fail(err)
		r.once.Do(func() { close(r.enough) })
	}
}

func (r *recorder) readEvents(source recordSource, channel *recording.Channel) error {
	failed := false
	var e event.Event
	for {
		err := source.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := r.received.Add(1)
		if limit := r.o.count; limit > 0 && n >= limit {
			r.once.Do(func() { close(r.enough) })
			if n > limit {
				r.received.Add(^uint64(0)) // it came while the recording ended
				continue
			}
		}
		if !failed {
			if err := channel.Write(&e); err != nil {
				r.fail(err)
				failed = true
			}
		}
	}
}

func (r *recorder) readPacked(source *packedSource) error {
	failed := false
	return source.Batches(context.Background(), func(b *tracer.Batch) {
		if !failed {
			n, err := source.packed.Write(b)
			r.received.Add(n)
			r.fail(err)
			failed = err != nil
		}
		for failed {
			run := b.Run()
			if run == nil {
				break
			}
			r.received.Add(uint64(len(run.Heads)))
		}
	})
}

// save brings what is on disk up to date.
func (r *recorder) save() {
	for i, source := range r.sources {
		r.fail(source.losses(r.channels[i]))
	}
	r.fail(r.trace.Flush())
}

// fail notes the first error. One of the trace ends the recording.
func (r *recorder) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.fullOnce.Do(func() { close(r.full) })
}

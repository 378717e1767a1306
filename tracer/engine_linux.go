package tracer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/internal/bpf"
	"golang.org/x/sys/unix"
)

// forceMode is bpf.Auto but in tests.
var forceMode = bpf.Auto

// userCounters reports whether this process is to raise reference counters, not the kernel.
func userCounters(o Options) bool { return o.UserCounters || forceUserCounters || !haveCounters() }

// forceUserCounters is false but in tests.
var forceUserCounters = false

func newEvents(t Target, markers []*Marker, o Options) (events, error) {
	w, err := newWatcher(t, markers, o.Later)
	if err != nil {
		return nil, err
	}
	p, err := prepare(t, markers, func(_, probe int) int { return probe })
	if err != nil {
		w.close()
		return nil, err
	}
	defer p.close()
	if err := p.bindWhere(o.Where); err != nil {
		w.close()
		return nil, err
	}
	tr, err := bpf.NewTracer(p.files, w.options(t, o))
	if err != nil {
		w.close()
		return nil, p.explain(err)
	}
	k := &kernelEvents{Tracer: tr, w: w, o: o, comms: map[[16]byte]string{}}
	k.probes.Store(&p.probes)
	err = w.begin(k.add)
	if err == nil {
		err = checkAttached(t.pids(), markers)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// add is called by one goroutine at a time.
func (k *kernelEvents) add(markers []*Marker, linkers []*File, t Target) error {
	known := *k.probes.Load()
	markers, err := withStrings(markers, k.o.Strings, false)
	if err != nil {
		return err
	}
	p, err := prepareLater(t, markers, linkers, func(_, probe int) int { return len(known) + probe })
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.bindWhere(k.o.Where); err != nil {
		return err
	}
	all := slices.Concat(known, p.probes) // known before the first event comes
	k.probes.Store(&all)
	if err := k.Add(p.files, k.w.options(t, k.o)); err != nil {
		return p.explain(err)
	}
	return nil
}

// kernelEvents turns what the kernel wrote into events.
type kernelEvents struct {
	*bpf.Tracer
	w      *watcher
	probes atomic.Pointer[[]*probe]
	o      Options
	raw    bpf.Raw
	clock  wallClock
	comms  map[[16]byte]string // names as strings, so that events share them
}

func (k *kernelEvents) next(ctx context.Context) (*Event, error) {
	if err := k.Next(ctx, &k.raw); err != nil {
		return nil, err
	}
	r := &k.raw
	probes := *k.probes.Load()
	if int(r.Site) >= len(probes) {
		return nil, fmt.Errorf("event of site %d, of which there are %d", r.Site, len(probes))
	}
	p := probes[r.Site]
	at := time.Duration(r.Time)
	return &Event{
		Time:      k.clock.at(at),
		Monotonic: at,
		PID:       r.PID,
		TID:       r.TID,
		CPU:       int(r.CPU),
		Comm:      k.comm(r.Comm),
		Goroutine: int64(r.Goroutine),
		Marker:    p.marker,
		Values:    p.values(r, k.o.MaxString),
	}, nil
}

// maxComms bounds the memory for names, which processes choose.
const maxComms = 4096

func (k *kernelEvents) comm(c [16]byte) string {
	if s, ok := k.comms[c]; ok {
		return s
	}
	if len(k.comms) >= maxComms {
		clear(k.comms)
	}
	name, _, _ := bytes.Cut(c[:], []byte{0})
	s := string(name)
	k.comms[c] = s
	return s
}

func (k *kernelEvents) lost() (uint64, error) { return k.Lost() }

func (k *kernelEvents) filtered() (uint64, error) { return k.Filtered() }

func (k *kernelEvents) ended() <-chan struct{} { return k.w.ended() }

func (k *kernelEvents) stop() error {
	k.w.halt()
	return errors.Join(k.Stop(), k.w.close())
}

func (k *kernelEvents) Close() error {
	k.w.halt()
	return errors.Join(k.Tracer.Close(), k.w.close())
}

// wallClock turns CLOCK_MONOTONIC into the time of day. The difference is taken again for
// every second of events, because the time of day is set and slewed.
type wallClock struct {
	offset time.Time
	until  time.Duration
}

func (w *wallClock) at(monotonic time.Duration) time.Time {
	if monotonic >= w.until {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err == nil {
			now := time.Duration(ts.Nano())
			// Round drops this process's own monotonic reading, which is not the event's.
			w.offset = time.Now().Round(0).Add(-now)
			w.until = max(monotonic, now) + time.Second
		}
	}
	return w.offset.Add(monotonic)
}

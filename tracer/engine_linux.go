package tracer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// forceMode is bpf.Auto but in tests.
var forceMode = bpf.Auto

// kernelEvents turns what the kernel wrote into events.
type kernelEvents struct {
	attachment
	kernel *bpf.Tracer
	probes atomic.Pointer[[]*probe] // by index
	raw    prog.Raw
	wallClock
	decoder

	stop    sync.Once
	stopErr error
}

func guardMain() { bpf.ServeGuard() }

func newEvents(t Target, markers []*Marker, o options) (events, error) {
	if t.engine == EngineAgent {
		a, err := newAgentEvents(t, markers, o)
		return agentTracer{a}, err
	}
	k := &kernelEvents{}
	k.probes.Store(&[]*probe{})
	if err := k.attach(t, markers, o, k); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *kernelEvents) open(how bpf.Options) (_ kernel, err error) {
	k.kernel, err = bpf.NewTracer(how)
	return k.kernel, err
}

func (k *kernelEvents) plan(p *plan) {
	n := uint32(0)
	p.each(func(s *prog.Site, _ *probe) {
		s.Index = n
		n++
	})
}

func (k *kernelEvents) add(p *plan, pids []int) ([]*bpf.AttachError, error) {
	known := *k.probes.Load()
	all := slices.Clone(known)
	p.each(func(_ *prog.Site, pr *probe) { all = append(all, pr) })
	k.probes.Store(&all) // known before the first event comes
	refused, err := k.kernel.Add(p.files, len(all)-len(known), pids)
	if err != nil {
		k.probes.Store(&known)
	}
	return refused, err
}

func (k *kernelEvents) Read(ctx context.Context, e *event.Event) error {
	if err := k.kernel.Next(ctx, &k.raw); err != nil {
		return err
	}
	r := &k.raw
	probes := *k.probes.Load()
	if int(r.Site) >= len(probes) {
		return fmt.Errorf("event of site %d, of which there are %d", r.Site, len(probes))
	}
	p := probes[r.Site]
	*e = event.Event{
		Time:      time.Duration(r.Time),
		PID:       r.PID,
		TID:       r.TID,
		NSPID:     r.OwnPID,
		NSTID:     r.OwnTID,
		CPU:       int(r.CPU),
		Comm:      k.comm(r.Comm),
		Goroutine: int64(r.Goroutine),
		Point:     &p.marker.Point,
		Values:    p.values(r, e.Values, k.reading(k.options.maxString)),
	}
	return nil
}

// maxComms bounds the memory for names, which processes choose.
const maxComms = 4096

// decoder holds what the events of a reader share: the names of threads as strings, and the bytes
// of the texts of the last event.
type decoder struct {
	comms map[[16]byte]string
	text  []byte
}

func (d *decoder) comm(c [16]byte) string {
	if s, ok := d.comms[c]; ok {
		return s
	}
	if len(d.comms) >= maxComms || d.comms == nil {
		d.comms = map[[16]byte]string{}
	}
	name, _, _ := bytes.Cut(c[:], []byte{0})
	s := string(name)
	d.comms[c] = s
	return s
}

// reading begins to read the texts of an event.
func (d *decoder) reading(maxString int) reading {
	d.text = d.text[:0]
	return reading{maxString, &d.text}
}

func (k *kernelEvents) Points() (all []*event.Point) {
	seen := map[*Marker]bool{}
	for _, p := range *k.probes.Load() {
		if !seen[p.marker] {
			seen[p.marker] = true
			all = append(all, &p.marker.Point)
		}
	}
	return all
}

func (k *kernelEvents) Losses() ([]source.Loss, error) {
	n, err := k.kernel.LostByCPU()
	return fullBuffers("kernel", n), err
}

func (k *kernelEvents) Stream() (string, []string) { return "kernel", []string{source.BufferFull} }

func (k *kernelEvents) Order() source.Order { return source.Arrival }

func (k *kernelEvents) Late() uint64 { return k.kernel.Late() }

func (k *kernelEvents) Filtered() (uint64, error) { return k.kernel.Filtered() }

// Stop may be called by several goroutines at once.
func (k *kernelEvents) Stop() error {
	k.stop.Do(func() { k.stopErr = k.end(k.kernel.Stop) })
	return k.stopErr
}

// wallClock turns CLOCK_MONOTONIC into the time of day. The difference is taken again for
// every second of events, because the time of day is set and slewed.
type wallClock struct {
	mu     sync.Mutex
	offset time.Time
	until  time.Duration
}

// Clock returns the clock.
func (w *wallClock) Clock() source.Clock { return w }

// Wall returns the time of day of an event.
func (w *wallClock) Wall(monotonic time.Duration) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
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

package tracer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// LatencyOptions are how Latency joins hits to pairs. The zero value is what most callers want.
type LatencyOptions struct {
	Attach
	// Key names the value that the begin and the end of a pair have in common, besides the process:
	// "tid", the thread; "goroutine"; or a field of the markers, by name or as "arg1" and so
	// on, such as the number of a request. "" is the goroutine where the number of it is
	// known at every site, as in linked Go programs, and the thread otherwise.
	Key string
	// EndKey is the name of that value at the end if it differs from Key.
	EndKey string
	// By names the values that divide pairs into groups, at most 8, four of them strings:
	// Latencies.Keys. A name is a field of the begin, or else of the end, or else what every begin
	// has, as in CountOptions.By. A name that no marker has is a *NoFieldError.
	By []string
	// MaxKeys is how many groups there is room for, 0 for 1024, at most 16384. Each takes 16 KiB
	// of memory.
	MaxKeys int
	// MaxOpen is how many pairs can be open at once, 0 for 65536, at most 1048576. When there
	// are more, those that are open for the longest are forgotten: begins in no pair. The first keys,
	// 8192 at most, have a place of their own besides: hits of those cost less, and they are not forgotten.
	MaxOpen int
	// Ends says which of Later's markers end pairs; the others begin them. nil, none does.
	Ends func(*Marker) bool
}

// Pairs measures the time between hits of markers, in the kernel. Its methods may be called
// from several goroutines.
type Pairs struct {
	Attachment
	engine pairs
}

// pairs is what an engine does for Pairs.
type pairs interface {
	engine
	// by is what pairs are joined by, and markers are those that are attached.
	by() pairing
	markers() (begin, end []*Marker)
	read() (*Latencies, error)
	stop() error
}

// Latencies is what Pairs has measured since attaching.
type Latencies struct {
	histogram.Histogram // of the pairs
	// Begins and Ends are the hits on either side. Those that are in no pair were still open
	// or nested, or their other side was not seen. With a condition, Ends are those in pairs.
	Begins, Ends uint64
	// Nested is how many begins came while one with the same key was open. It is forgotten:
	// of nested pairs the innermost is measured.
	Nested uint64
	// Unread is how many hits on either side had no key: memory that could not be read, or
	// a site that has no such argument. They are not among Begins and Ends.
	Unread uint64
	// Full is how many begins found no room, which the kernel makes nearly always.
	Full uint64
	// Lost is how many events on either side found the rings of an agent full, and are in no pair.
	Lost uint64

	// With LatencyOptions.By every pair is in one of Keys or in Others.
	Keys   []KeyLatency        // in the order of their first Read
	Others histogram.Histogram // the pairs whose groups found no room: LatencyOptions.MaxKeys
}

// KeyLatency is what was measured of the pairs with one Key.
type KeyLatency struct {
	Key    *Key          // the same for the same values in each Read
	Fields []event.Field // of the key's values
	histogram.Histogram
}

func (l *Latencies) setCounts(c source.PairCounts) {
	l.Begins, l.Ends, l.Nested, l.Unread, l.Full = c.Begins, c.Ends, c.Nested, c.Unread, c.Full
}

// Latency attaches to markers and measures from then on how long it takes from a hit of one
// of begin to the next hit of one of end with the same key in the same process. Targets are
// those of Count. No marker is both begin and end.
//
// Times are taken last in the begin's probe and first in the end's, so they hold next to
// nothing of what tracing costs: the end's breakpoint. A hit costs the target that of Count and about
// a tenth of a microsecond where keys come again and again, as threads and goroutines do; twice that where
// each is new, as the number of a request. Begins that never end, as when a goroutine panics, take
// up room until others need it.
func Latency(t Target, begin, end []*Marker, o *LatencyOptions) (*Pairs, error) {
	if o == nil {
		o = &LatencyOptions{}
	}
	d := o.Attach.options()
	if d.maxKeys = defaultMaxOpen; o.MaxOpen > 0 {
		d.maxKeys = min(o.MaxOpen, maxMaxKeys)
	}
	if d.maxGroups = defaultMaxGroups; o.MaxKeys > 0 {
		d.maxGroups = min(o.MaxKeys, maxMaxGroups)
	}
	d.by = o.By
	if o.Key != "" {
		d.keys = []string{o.Key, cmp.Or(o.EndKey, o.Key)}
	}
	t, err := t.checkAttach(begin, d.Later)
	if err != nil {
		return nil, err
	}
	if len(end) == 0 && o.Later == nil {
		return nil, errors.New("attaching: no markers are selected to end what others begin")
	}
	for _, m := range end {
		if slices.Contains(begin, m) {
			return nil, fmt.Errorf("%s would begin and end pairs at once", m.FullName())
		}
	}
	begin, err = model.Placed(begin, true)
	if err == nil {
		end, err = model.Placed(end, true)
	}
	if err == nil {
		begin, err = d.fields(begin, false)
	}
	if err == nil {
		end, err = d.fields(end, false)
	}
	if err == nil {
		err = o.check(begin, end)
	}
	if err != nil {
		return nil, err
	}
	engine, err := newPairs(t, begin, end, o, d)
	if err != nil {
		return nil, err
	}
	return &Pairs{attached(t, engine), engine}, nil
}

// pairing is what begin and end have in common, by the names of LatencyOptions.Key; "" is not known yet.
type pairing struct {
	begin, end string
	// chosen means that it is the default: the goroutine or the thread, and no field of such a name.
	chosen bool
}

// pairing chooses by the markers that there are first.
func (o *LatencyOptions) pairing(first []*Marker) pairing {
	if o.Key != "" || len(first) == 0 {
		return pairing{o.Key, cmp.Or(o.EndKey, o.Key), false}
	}
	by := "goroutine"
	if slices.ContainsFunc(first, func(m *Marker) bool { return !knowsGoroutine(m) }) {
		by = "tid"
	}
	return pairing{by, by, true}
}

// check reports whether the markers have the values that pairs are to be joined and grouped by. It
// ignores markers of libraries that are loaded later.
func (o *LatencyOptions) check(begin, end []*Marker) error {
	all := slices.Concat(begin, end)
	by := o.pairing(all)
	if len(begin) > 0 && !by.chosen {
		if err := checkKey(begin, []string{by.begin}); err != nil {
			return err
		}
	}
	if len(end) > 0 && !by.chosen {
		if err := checkKey(end, []string{by.end}); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return checkKey(all, o.By)
}

// knowsGoroutine reports whether hits of all sites know the number of their goroutine.
func knowsGoroutine(m *Marker) bool {
	if model.Declared(m) != "" {
		return true
	}
	if m.Simple != nil {
		return model.GoCode(m) && model.Goid(m.File) >= 0
	}
	for _, r := range model.Records(m) {
		if r == nil {
			return false
		}
	}
	return len(model.Records(m)) > 0 && model.Goid(m.File) >= 0
}

// Key returns the names of the value by which pairs are joined: those of LatencyOptions, or what was
// chosen, "" as long as there are no markers to choose by.
func (p *Pairs) Key() (begin, end string) {
	by := p.engine.by()
	return by.begin, by.end
}

// Markers returns those that are attached, Later's among them.
func (p *Pairs) Markers() (begin, end []*Marker) { return p.engine.markers() }

// Stop ends measuring, for all markers at one moment, and detaches. Read then returns what was
// measured. Further calls do nothing.
func (p *Pairs) Stop() error { return p.engine.stop() }

// Read returns what was measured since attaching, by one system call. The result belongs to
// the caller. After Close it returns os.ErrClosed.
func (p *Pairs) Read() (*Latencies, error) { return p.engine.read() }

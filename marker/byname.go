package marker

import (
	"errors"
	"strconv"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// byName has the arguments of the Register call.
type byName struct {
	name   string
	format string     // "" accepts any
	fn     point.Func // a func(*Event): see point.Event
	data   any
}

// Register connects fn to every marker of this name, as declared, with its provider where it
// has one, and to those that appear later: a probe may be registered before the package
// of its marker is initialized. Until a marker is found the probe is [Probe.Pending], for ever if
// the name is wrong, and the program's data is searched for it: after a millisecond, then at
// growing intervals and at last every second, a fraction of a millisecond each time. A marker that is made in a
// function is not in that data: it is found when its Register or Arm is called first.
//
// The format must be the marker's, exactly; an empty one accepts any, and fn reads [Event.Format].
// data is fn's own: [Event.Data] returns it.
//
// Registering does not arm: see [Arm] and [Marker.Arm]. The package documentation has the rules for
// probes.
func Register(name, format string, fn func(*Event), data any) (*Probe, error) {
	doing := "registering a probe of marker " + strconv.Quote(name)
	if fn == nil {
		return nil, errors.New(doing + ": the function is nil")
	}
	if _, _, err := event.ParseName(name); err != nil {
		return nil, point.Wrap(doing, err)
	}
	if _, err := event.ParseFormat(format); err != nil {
		return nil, point.Wrap(doing, err)
	}
	known.refresh()
	known.Lock()
	defer known.Unlock()
	p := &Probe{byName: &byName{name: name, format: format, fn: hidden(fn), data: data}}
	n := known.name(name)
	for _, m := range n.markers {
		if err := p.byName.fits(m); err != nil {
			return nil, point.Wrap("registering a probe", err)
		}
	}
	n.probes = append(n.probes, p)
	for _, m := range n.markers {
		p.byName.connect(p, m)
	}
	if len(n.markers) == 0 {
		known.retryLater()
	}
	return p, nil
}

// ErrFormat reports a probe whose format differs from its marker's.
var ErrFormat = errors.New("the formats differ")

// fits reports whether a marker can call the probe.
func (b *byName) fits(m *Marker) error {
	if b.format != "" && b.format != m.format {
		return point.Wrap(m.quoted()+" has format "+strconv.Quote(m.format)+", the probe "+strconv.Quote(b.format), ErrFormat)
	}
	if s := m.loaded(); s != nil {
		if d := s.declared.Load(); d != nil && d.err != nil {
			return d.err
		}
	}
	if _, err := event.ParseFormat(m.format); err != nil {
		return point.Wrap(m.quoted(), err)
	}
	return nil
}

func (b *byName) connect(p *Probe, m *Marker) {
	// A panic at one marker disconnects the probe from all of its name.
	p.connect(m.stateOf(), b.probe(m, func() { p.disconnect() }))
}

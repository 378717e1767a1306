package marker

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/inproc/problem"
)

// known has every marker of the program that was found, and the requests by name. It is empty, and
// costs nothing, until the first request by name or the first use of a marker.
var known registry

type registry struct {
	sync.Mutex
	names map[string]*name
	all   map[*Marker]bool
	retry *time.Timer // while probes wait for markers that are not there
	pause time.Duration
}

// name is everything known by one name: two markers may share it.
type name struct {
	markers []*Marker
	probes  []*Probe // registered by this name, in that order
	arms    int      // by this name
}

func (r *registry) name(s string) *name {
	n := r.names[s]
	if n == nil {
		if r.names == nil {
			r.names = map[string]*name{}
		}
		n = &name{}
		r.names[s] = n
	}
	return n
}

// add makes a marker known, arms it as often as its name is armed, and connects the probes
// that wait for it.
func (r *registry) add(m *Marker) {
	r.Lock()
	problems, added := r.addLocked(m)
	r.Unlock()
	r.tell(problems, added)
}

// tell reports the problems of markers that were added; r is not locked.
func (r *registry) tell(problems []error, added []*Marker) {
	for _, err := range problems {
		problem.Report(err)
	}
	if found := point.Found.Load(); found != nil {
		for _, m := range added {
			(*found)(m.recordable())
		}
	}
}

func (r *registry) addLocked(m *Marker) (problems []error, added []*Marker) {
	if r.all[m] {
		return nil, nil
	}
	if r.all == nil {
		r.all = map[*Marker]bool{}
	}
	r.all[m] = true
	n := r.name(m.name)
	n.markers = append(n.markers, m)
	for range n.arms {
		if err := m.armNamed(); err != nil {
			problems = append(problems, err)
		}
	}
	for _, p := range n.probes {
		if err := p.byName.fits(m); err != nil {
			problems = append(problems, point.Wrap("connecting a pending probe", err))
			continue
		}
		p.byName.connect(p, m)
	}
	return problems, []*Marker{m}
}

// refresh finds the markers that are there by now.
func (r *registry) refresh() {
	found := scan()
	var problems []error
	var added []*Marker
	r.Lock()
	for _, m := range found {
		p, a := r.addLocked(m)
		problems, added = append(problems, p...), append(added, a...)
	}
	r.Unlock()
	r.tell(problems, added)
}

// Intervals at which markers are looked for while a probe is pending. A package that is
// initialized later, or built without static initialization of its markers, has them soon.
const (
	firstRetry = time.Millisecond
	lastRetry  = time.Second
)

// retryLater searches again after a while, as long as a probe is pending; r is locked.
func (r *registry) retryLater() {
	if r.retry != nil {
		return
	}
	if r.pause == 0 {
		r.pause = firstRetry
	}
	r.retry = time.AfterFunc(r.pause, func() {
		r.refresh()
		r.Lock()
		defer r.Unlock()
		r.retry = nil
		if !r.pending() {
			r.pause = 0
			return
		}
		r.pause = min(2*r.pause, lastRetry)
		r.retryLater()
	})
}

func (r *registry) pending() bool {
	for _, n := range r.names {
		if slices.ContainsFunc(n.probes, (*Probe).Pending) {
			return true
		}
	}
	return false
}

// forget takes a probe off its name, so that no later marker is connected to it.
func (r *registry) forget(p *Probe) {
	r.Lock()
	defer r.Unlock()
	n := r.name(p.byName.name)
	n.probes = slices.DeleteFunc(n.probes, func(q *Probe) bool { return q == p })
}

// ErrUnknown is the error of arming a name that no marker has and no probe waits for.
var ErrUnknown = errors.New("no marker of this name was found and no probe waits for it")

// Arm arms every marker of this name, as declared, with its provider where it has one: those
// there are and those that appear later. Calls nest, and count apart from those of [Marker.Arm].
func Arm(name string) error {
	known.Lock()
	n := known.names[name]
	known.Unlock()
	if n == nil || len(n.markers) == 0 {
		known.refresh()
	}
	known.Lock()
	defer known.Unlock()
	if n = known.names[name]; n == nil || len(n.markers) == 0 && len(n.probes) == 0 {
		return point.Wrap("arming marker "+strconv.Quote(name), ErrUnknown)
	}
	for i, m := range n.markers {
		if err := m.armNamed(); err != nil {
			for _, armed := range n.markers[:i] {
				armed.disarmNamed()
			}
			return err
		}
	}
	n.arms++
	return nil
}

// Disarm undoes one [Arm] of the same name.
func Disarm(name string) error {
	known.Lock()
	defer known.Unlock()
	n := known.names[name]
	if n == nil || n.arms == 0 {
		return point.Wrap("disarming marker "+strconv.Quote(name), ErrNotArmed)
	}
	n.arms--
	for _, m := range n.markers {
		if m.stateOf().named > n.arms { // fewer where arming failed
			m.disarmNamed()
		}
	}
	return nil
}

// armNamed arms a marker once more for its name; known is locked.
func (m *Marker) armNamed() error {
	s := m.stateOf()
	if err := s.Arm(&m.armed); err != nil {
		return point.Wrap("arming "+m.quoted(), err)
	}
	s.named++
	return nil
}

// disarmNamed undoes one armNamed; known is locked.
func (m *Marker) disarmNamed() {
	s := m.stateOf()
	s.named--
	s.Disarm(&m.armed)
}

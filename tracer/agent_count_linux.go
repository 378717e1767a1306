package tracer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// agentCounts reads what agents count in shared memory, where it stays when their programs end.
type agentCounts struct {
	all []*Marker

	mu       sync.Mutex
	closed   bool
	sessions []*agentconn.Session
	once     sync.Once
	halting  sync.Once

	keys *agentKeys // nil without CountOptions.By
}

func newAgentCounts(t Target, markers []*Marker, o options) (counts, error) {
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	c := &agentCounts{all: markers}
	var err error
	// Events are counted before they are read for their keys: what is lost between the two is some
	// other key's, and not the other way round.
	if c.sessions, err = agentconn.StartSessions(t.pids, markers, wire.Session{Mode: wire.Count, Where: o.Where}); err != nil {
		return nil, err
	}
	if len(o.by) > 0 {
		if c.keys, err = newAgentKeys(t, markers, o); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

func (c *agentCounts) markers() []*Marker { return c.all }

func (c *agentCounts) skipped() []*SiteError { return nil }

func (c *agentCounts) missing() error { return nil } // Later is the kernel engine's

func (c *agentCounts) ended() <-chan struct{} { return nil }

func (c *agentCounts) read(out []MarkerCount) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	if c.keys != nil { // first: then none of its events is too new for the counts
		if err := c.keys.read(out); err != nil {
			return err
		}
	}
	for _, s := range c.sessions {
		if err := addHits(s, c.all, out); err != nil {
			return err
		}
	}
	for i := range out {
		o := &out[i]
		for _, k := range o.Keys {
			o.Others += k.Count
		}
		o.Others = o.Count - min(o.Others, o.Count)
		if c.keys == nil {
			o.Others = 0
		}
	}
	return nil
}

// addHits adds the hits of each marker.
func addHits(s *agentconn.Session, markers []*Marker, out []MarkerCount) error {
	events, err := s.Events()
	if err != nil {
		return err
	}
	for _, e := range events {
		n, err := s.Hits(e.Number)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(markers, func(m *Marker) bool { return model.Declared(m) == e.FullName() && m.Format == e.Format })
		if i >= 0 && i < len(out) {
			out[i].Count += n
		}
	}
	noRing, undescribed, err := s.Lost()
	if all := s.Problems(); err == nil && noRing+undescribed > 0 && len(all) > 0 {
		return fmt.Errorf("%d hits in process %d were not counted: %w", noRing+undescribed, s.PID, errors.Join(all...))
	}
	if err == nil && noRing+undescribed > 0 {
		err = fmt.Errorf("%d hits in process %d were not counted: GOMAXPROCS was raised beyond the processors there were, or there are too many markers", noRing+undescribed, s.PID)
	}
	return err
}

// stop ends the recordings. What they counted stays in their rings.
func (c *agentCounts) stop() (err error) {
	c.halting.Do(func() {
		for _, s := range c.sessions {
			err = errors.Join(err, s.Halt())
		}
		if c.keys != nil {
			err = errors.Join(err, c.keys.fold.events.Stop())
		}
	})
	return err
}

func (c *agentCounts) Close() (err error) {
	c.once.Do(func() {
		err = c.stop()
		if c.keys != nil {
			err = errors.Join(err, c.keys.fold.close())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.closed = true
		agentconn.CloseSessions(c.sessions)
	})
	return err
}

// agentKeys counts the events of agents by their keys, in this process.
type agentKeys struct {
	fold  *agentFold
	by    []string
	limit int
	all   []*Marker

	points map[*event.Point]int // by point of events, the index of its marker in all, -1 for none
	known  map[string]int       // by marker and key, the index in seen
	key    []byte               // of known
	seen   [][]KeyCount         // by marker
	fields [][]event.Field      // by marker, the fields of its keys
	n      int
}

func newAgentKeys(t Target, markers []*Marker, o options) (*agentKeys, error) {
	if slices.Contains(o.by, "tid") && isThread(markers, "tid") {
		return nil, model.NotByAgent("counting by thread")
	}
	events, err := newAgentEvents(t, markers, o)
	if err != nil {
		return nil, err
	}
	k := &agentKeys{by: o.by, limit: o.maxKeys, all: markers, points: map[*event.Point]int{}, known: map[string]int{}, seen: make([][]KeyCount, len(markers))}
	for _, m := range markers {
		k.fields = append(k.fields, keyFields(m, o.by))
	}
	k.fold = newAgentFold(events, k.add)
	return k, nil
}

// add counts an event. What has no room left is among the others.
func (k *agentKeys) add(e *event.Event) {
	m, ok := k.points[e.Point]
	if !ok {
		m = slices.IndexFunc(k.all, func(m *Marker) bool { return model.Declared(m) == e.Point.FullName() && m.Format == e.Point.Format })
		k.points[e.Point] = m
	}
	if m < 0 {
		return
	}
	k.key = binary.NativeEndian.AppendUint32(k.key[:0], uint32(m))
	for _, name := range k.by {
		k.key, _ = source.AppendKey(k.key, e, name)
	}
	at, ok := k.known[string(k.key)]
	if !ok {
		if k.n == k.limit {
			return
		}
		k.n++
		of := &Marker{Point: *e.Point, Typed: true}
		key := &Key{}
		for _, name := range k.by {
			v, ok := source.KeyValue(e, name)
			if !ok {
				v = event.Missing(cmp.Or(absence(of, name), errNone))
			}
			key.Values = append(key.Values, v)
		}
		at = len(k.seen[m])
		k.fields[m] = keyFields(of, k.by) // their kinds are known only now
		k.known[string(k.key)] = at
		k.seen[m] = append(k.seen[m], KeyCount{Key: key})
	}
	k.seen[m][at].Count++
}

// absence returns the reason why no event has a value with a name, or nil if events may have one.
func absence(m *Marker, name string) error {
	f, _ := keyField(m, name)
	return f.Unavailable.Err()
}

// read fills in the keys.
func (k *agentKeys) read(out []MarkerCount) error {
	return k.fold.look(func() {
		for i := range out {
			out[i].Keys = slices.Clone(k.seen[i])
			out[i].Fields = k.fields[i]
		}
	})
}

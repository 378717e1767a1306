package sink

import (
	"errors"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/marker"
)

// Connection is a sink's probes, of any number of markers. The zero value has none: Add some,
// then Arm. Its methods may be called by several goroutines at once.
type Connection struct {
	mu     sync.Mutex
	names  []string        // of the probes
	probes []*marker.Probe // in the order of names
	armed  int             // as many of the names, from the first, are armed by this connection
	closed bool
}

// Connect connects fn to every marker that one of the patterns matches, and arms them. When it
// returns an error nothing is connected.
func Connect(fn func(*marker.Event), patterns ...string) (*Connection, error) {
	names, err := Match(patterns...)
	if err != nil {
		return nil, err
	}
	c := &Connection{}
	for _, name := range names {
		if err := c.Add(name, fn, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := c.Arm(); err != nil {
		return nil, err
	}
	return c, nil
}

var (
	errNothing = errors.New("connecting a sink: no marker is named")
	errClosed  = errors.New("connecting a sink: it is closed")
)

// Add registers fn with the markers of this name, those that appear later included. data is
// the result of [marker.Event.Data]. Add does not arm.
func (c *Connection) Add(name string, fn func(*marker.Event), data any) error {
	p, err := marker.Register(name, "", fn, data)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.Unregister()
		return errClosed
	}
	c.names, c.probes = append(c.names, name), append(c.probes, p)
	return nil
}

// Arm arms all markers that were added and are not armed yet. If it returns an error, the connection
// is closed.
func (c *Connection) Arm() error {
	err := c.arm()
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

func (c *Connection) arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	if len(c.names) == 0 {
		return errNothing
	}
	for ; c.armed < len(c.names); c.armed++ {
		if err := marker.Arm(c.names[c.armed]); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the names of the markers that are connected or waited for.
func (c *Connection) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names)
}

// Pending returns the names that no marker has so far.
func (c *Connection) Pending() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for i, p := range c.probes {
		if p.Pending() {
			names = append(names, c.names[i])
		}
	}
	return names
}

// Close undoes Arm, then Add. After it returns, no probe of the sink runs or will run again. It
// waits for calls in progress, so its caller must not hold a lock that a probe waits for. Inside a
// probe it cannot wait; call it once more outside of probes. Further calls do no harm. Its error
// names markers that other code disarmed too often.
func (c *Connection) Close() error {
	c.mu.Lock()
	c.closed = true
	var errs []error
	for _, name := range c.names[:c.armed] {
		errs = append(errs, marker.Disarm(name)) // first, so that sites are off while Unregister waits
	}
	c.armed = 0
	probes := c.probes // nothing is added any more
	c.mu.Unlock()
	// Without the lock: a probe that is waited for may be closing, too.
	for _, p := range probes {
		p.Unregister()
	}
	return errors.Join(errs...)
}

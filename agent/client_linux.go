package agent

import (
	"errors"
	"os"
	"runtime"

	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
)

// client is one connection, with the effects to undo when it ends. One goroutine serves it.
type client struct {
	agent    *Agent
	conn     *wire.Conn
	armed    []string // by marker.Arm
	switched []switched
}

// switched is a key that the client has enabled or disabled.
type switched struct {
	key *statickey.Key
	on  bool
}

// maxUndo is how much one connection may leave to be undone.
const maxUndo = 4096

// do answers a request. The error is one of the connection; a refusal is an answer.
func (c *client) do(r *wire.Request) error {
	var err error
	switch r.Do {
	case wire.List:
		return c.list()
	case wire.Arm:
		err = c.arm(r.Names)
	case wire.Disarm:
		err = c.disarm(r.Names)
	case wire.Enable:
		err = c.toggle(r.Names, true)
	case wire.Disable:
		err = c.toggle(r.Names, false)
	case wire.Resume:
		c.agent.goOn()
	case wire.Record:
		return c.record(r.Session)
	case wire.Sessions:
		return c.tell(c.agent.sessions.list())
	case wire.Stop:
		err = c.agent.sessions.stop(c.agent.self, r.Name)
	case wire.Ring:
		return c.ring(r.Name)
	default:
		err = refuse(wire.BadRequest, "there is no request %.80q", r.Do)
	}
	return c.answer(err)
}

// answer confirms a request, or refuses it with the reason.
func (c *client) answer(err error) error {
	if err == nil {
		return c.conn.Answer(&wire.Answer{})
	}
	var e *wire.Error
	if !errors.As(err, &e) {
		e = refuse(wire.Failed, "%v", err)
	}
	return c.refuse(e)
}

func (a *Agent) describe() *wire.Process {
	p := &wire.Process{Version: wire.Version, PID: a.self.PID, Start: a.self.Start, Go: runtime.Version(), Waits: a.waits()}
	p.Executable, _ = os.Executable() // which its name is not needed for
	return p
}

// arm arms markers by name: all of them or none.
func (c *client) arm(names []string) error {
	if len(c.armed)+len(names) > maxUndo {
		return refuse(wire.Limited, "a connection arms at most %d markers", maxUndo)
	}
	for i, name := range names {
		if err := marker.Arm(name); err != nil {
			for _, done := range names[:i] {
				_ = marker.Disarm(done)
			}
			if errors.Is(err, marker.ErrUnknown) {
				return refuse(wire.NoPoint, "%v", err)
			}
			return err
		}
	}
	c.armed = append(c.armed, names...)
	return nil
}

// disarm disarms the points that this connection armed, and no others.
func (c *client) disarm(names []string) error {
	left := append([]string{}, c.armed...)
	for _, name := range names {
		at := -1
		for i := range left {
			if left[i] == name {
				at = i
			}
		}
		if at < 0 {
			return refuse(wire.NoPoint, "disarming marker %.80q: this connection has not armed it", name)
		}
		left = append(left[:at], left[at+1:]...)
	}
	for _, name := range names {
		_ = marker.Disarm(name) // it is armed
	}
	c.armed = left
	return nil
}

// toggle switches keys by name: all of them or none.
func (c *client) toggle(names []string, on bool) error {
	var done []switched
	for _, name := range names {
		keys := statickey.Find(name)
		err := error(nil)
		if len(keys) == 0 {
			err = refuse(wire.NoPoint, "no key is named %.80q", name)
		}
		for _, k := range keys {
			if err == nil {
				s := switched{k, on}
				if err = s.do(on); err == nil {
					done = append(done, s)
				}
			}
		}
		if err == nil && len(c.switched)+len(done) > maxUndo {
			err = refuse(wire.Limited, "a connection switches at most %d keys", maxUndo)
		}
		if err != nil {
			for _, s := range done {
				_ = s.do(!on)
			}
			return err
		}
	}
	c.switched = append(c.switched, done...)
	return nil
}

func (s switched) do(on bool) error {
	if on {
		return s.key.Enable()
	}
	return s.key.Disable()
}

// undo takes back all that the connection has done.
func (c *client) undo() {
	for _, name := range c.armed {
		_ = marker.Disarm(name)
	}
	for _, s := range c.switched {
		_ = s.do(!s.on)
	}
	c.armed, c.switched = nil, nil
	_ = c.agent.sessions.stopOf(c.agent.self, c) // no client is left to get the error
}

// list answers with every point of the program.
func (c *client) list() error {
	points := allPoints()
	for i := range points {
		if err := c.conn.Answer(&wire.Answer{Point: &points[i], More: true}); err != nil {
			return err
		}
	}
	return c.conn.Answer(&wire.Answer{})
}

// tell answers with a list of sessions.
func (c *client) tell(all []wire.Session) error {
	for i := range all {
		if err := c.conn.Answer(&wire.Answer{Session: &all[i], More: true}); err != nil {
			return err
		}
	}
	return c.conn.Answer(&wire.Answer{})
}

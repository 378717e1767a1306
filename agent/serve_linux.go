package agent

import (
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/wire"
)

const (
	maxClients = 16
	// helloTime bounds the wait for the first request of a connection.
	helloTime = 5 * time.Second
	// acceptCost is the charge for a connection by itself.
	acceptCost = 50 * time.Microsecond
	// acceptPause is the wait after a failure to accept, for example without free descriptors.
	acceptPause = 100 * time.Millisecond
)

// serve accepts connections until Stop.
func (a *Agent) serve() {
	defer close(a.served)
	for {
		conn, err := a.listener.Accept()
		a.mu.Lock()
		stopping, full := a.stopping, len(a.clients) >= maxClients
		var c *client
		if err == nil && !stopping && !full {
			c = &client{agent: a, conn: conn}
			a.clients[c] = true
		}
		a.mu.Unlock()
		switch {
		case stopping && err == nil:
			conn.Close()
			return
		case stopping:
			return
		case err != nil:
			time.Sleep(acceptPause)
		case full:
			_ = conn.Answer(&wire.Answer{Error: refuse(wire.Limited, "%d connections, as many as an agent takes", maxClients).With("end another waymark, or try again")})
			conn.Close()
		default:
			go c.serve()
		}
		time.Sleep(a.accepts.spend(time.Now(), acceptCost))
	}
}

func refuse(code, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// serve answers requests until the connection ends, and then undoes their effects.
func (c *client) serve() {
	defer func() {
		c.conn.Close()
		c.undo()
		c.agent.mu.Lock()
		delete(c.agent.clients, c)
		last := len(c.agent.clients) == 0
		c.agent.mu.Unlock()
		if last { // a program must not wait for a tracer that has gone
			c.agent.goOn()
		}
	}()
	if !c.hello() {
		return
	}
	for {
		r, err := c.conn.Request(0)
		if err != nil {
			return
		}
		took, err := used(func() error { return c.do(r) })
		if err != nil {
			return
		}
		if wait := c.agent.requests.spend(time.Now(), took); wait > 0 && c.conn.Left(wait) {
			return
		}
	}
}

// hello reads the first request, which must be the greeting of a client of this version.
func (c *client) hello() bool {
	r, err := c.conn.Request(helloTime)
	if err != nil {
		return false
	}
	switch {
	case r.Do != wire.Hello:
		_ = c.refuse(refuse(wire.BadRequest, "the first request is hello, not %.80q", r.Do))
		return false
	case r.Version != wire.Version:
		_ = c.refuse(refuse(wire.BadVersion, "this program's agent speaks version %d of the protocol, the client version %d", wire.Version, r.Version).With(wire.Rebuild))
		return false
	}
	return c.conn.Answer(&wire.Answer{Process: c.agent.describe()}) == nil
}

func (c *client) refuse(e *wire.Error) error { return c.conn.Answer(&wire.Answer{Error: e}) }

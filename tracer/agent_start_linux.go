package tracer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/wire"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// agentCommand is a program whose agent waits until it is resumed.
type agentCommand struct {
	cmd    *exec.Cmd
	conn   *agentconn.Conn
	exited chan struct{}
	result error
	once   sync.Once
	err    error
}

const (
	agentPatience = 5 * time.Second // how long a program may take to come to its agent
	agentPoll     = 2 * time.Millisecond
)

func startAgent(ctx context.Context, argv []string, o *StartOptions) (*agentCommand, error) {
	if path, err := exec.LookPath(argv[0]); err == nil && !programHasAgent(argv[0]) {
		return nil, fmt.Errorf("starting %s: %w", path, model.ErrNoAgent)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = o.Stdin, o.Stdout, o.Stderr, o.Dir
	cmd.Env = o.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "WAYMARK_AGENT=wait")
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the command: %w", err)
	}
	c := &agentCommand{cmd: cmd, exited: make(chan struct{})}
	go func() {
		c.result = cmd.Wait()
		close(c.exited)
	}()
	if err := c.connect(); err != nil {
		cmd.Process.Kill()
		<-c.exited
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return c, nil
}

// connect waits for the program's agent.
func (c *agentCommand) connect() error {
	for begun := time.Now(); ; {
		var err error
		c.conn, err = agentconn.Dial(c.pid())
		switch {
		case err == nil && c.conn.Waits:
			return nil
		case err == nil:
			c.conn.Close()
			return errors.New("its agent does not wait")
		case !errors.Is(err, model.ErrNoAgent):
			return err
		case time.Since(begun) > agentPatience:
			return fmt.Errorf("%w within %v", model.ErrNoAgent, agentPatience)
		}
		select {
		case <-c.exited:
			return fmt.Errorf("%w: it has ended", model.ErrNoAgent)
		case <-time.After(agentPoll):
		}
	}
}

func (c *agentCommand) pid() int { return c.cmd.Process.Pid }

func (c *agentCommand) resume() error {
	c.once.Do(func() {
		c.err = c.conn.Do(&wire.Request{Do: wire.Resume})
		if errors.Is(c.err, wire.ErrEnded) {
			c.err = nil // it has ended, which Wait tells
		}
		c.conn.Close()
	})
	return c.err
}

func (c *agentCommand) wait() error {
	<-c.exited
	_ = c.resume()
	return c.result
}

func (c *agentCommand) signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

package tracer

import (
	"context"
	"io"
	"os"
)

// StartOptions are how Start runs a command. The zero value runs it as os/exec would: no
// input, no output, this process's environment and directory.
type StartOptions struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string // nil for this process's
	Dir            string   // "" for this process's
	// Engine is what will look at the command. EngineAgent starts a program with package agent,
	// without ptrace: it runs until its agent waits for Resume, while its packages are initialized.
	// What is marked before that is not seen; without an agent the error wraps client.ErrNoAgent. If this
	// process dies before Resume the program runs on. EngineAuto is the agent's only where the kernel's is
	// not permitted and the program has an agent.
	Engine Engine
}

// Command is a process that Start started. Its methods may be called from several goroutines.
type Command struct {
	process startedProcess
	engine  Engine
}

// startedProcess is a process that waits for resume.
type startedProcess interface {
	pid() int
	resume() error
	wait() error
	signal(os.Signal) error
}

// Start starts a command and stops it before its first instruction, so that Find and Count
// or Trace can be given its Target first. Then Resume lets it run. A command that is never
// resumed dies with this process, or by a signal. When ctx is done it is killed.
//
// The process is the command itself: there is no shell or helper in front of it. Start needs
// ptrace for the time until Resume; where that is not permitted it is a *PermissionError.
func Start(ctx context.Context, argv []string, o *StartOptions) (*Command, error) {
	if o == nil {
		o = &StartOptions{}
	}
	process, engine, err := start(ctx, argv, o)
	if err != nil {
		return nil, err
	}
	return &Command{process, engine}, nil
}

// Target returns the command's process as a target of the engine that Start has chosen.
func (c *Command) Target() Target { return PIDs(c.PID()).By(c.engine) }

// PID returns the process number.
func (c *Command) PID() int { return c.process.pid() }

// Resume lets the command run. Further calls do nothing.
func (c *Command) Resume() error { return c.process.resume() }

// Wait waits for the command to end and returns its exit status as os/exec's Cmd.Wait does:
// nil for status 0, an *exec.ExitError for others. It must be called once.
func (c *Command) Wait() error { return c.process.wait() }

// Signal sends a signal, also to a command that is not resumed. Wait still has to be called.
func (c *Command) Signal(s os.Signal) error { return c.process.signal(s) }

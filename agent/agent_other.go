//go:build !linux

package agent

import (
	"errors"
	"fmt"
	"runtime"
)

// Agent is a running agent.
type Agent struct{}

// Start starts the program's agent. See the documentation for Linux.
func Start(*Options) (*Agent, error) {
	return nil, fmt.Errorf("starting the agent on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Stop ends the agent.
func (*Agent) Stop() error { return nil }

// Socket returns the path of the agent's socket.
func (*Agent) Socket() string { return "" }

func auto(string) {}

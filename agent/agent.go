package agent

import (
	"errors"
	"os"
	"strings"
	"time"
)

var (
	// ErrRunning is the error of Start while the program's agent runs already.
	ErrRunning = errors.New("the agent is running already")
	// ErrElevated is returned by Start in a program that runs with the privileges of a user other
	// than its caller (set-user-ID), because the caller chose its environment.
	ErrElevated = errors.New("the program runs with another user's privileges than its caller's (set-user-ID)")
)

// Options configure the agent. The zero value suits most programs.
type Options struct {
	// Wait makes Start wait until a tracer has connected and lets the program go on. If none
	// connects within this time, Start returns; 0 does not wait.
	Wait time.Duration
	// MaxBytes limits the rings of all recordings together, 0 for 256 MiB. It is shared memory, and counts
	// as the program's.
	MaxBytes int64
}

const (
	defaultBytes = 256 << 20
	autoWait     = 10 * time.Second
	variable     = "WAYMARK_AGENT"
)

func init() {
	switch env, _, _ := strings.Cut(os.Getenv(variable), ":"); env {
	case "1", "wait":
		Auto()
	}
}

// Auto has the effect of importing agent/auto: it starts the agent unless the environment has
// WAYMARK_AGENT=0 or the agent runs already, and reports an error to marker.OnProblem.
func Auto() { auto(os.Getenv(variable)) }

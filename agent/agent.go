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
	// ErrElevated is the error of Start in a program that has another user's privileges than whoever
	// started it, who chose its environment.
	ErrElevated = errors.New("the program runs with another user's privileges than its caller's (set-user-ID)")
)

// Options are how Start starts the agent. The zero value is what most programs want.
type Options struct {
	// Wait lets Start return only when a tracer has connected and said that the program may go on,
	// and at the latest after this time if none has connected; 0 does not wait.
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

// Auto does what importing agent/auto does: it starts the agent unless the environment says
// WAYMARK_AGENT=0 or it runs already, and reports what is wrong to marker.OnProblem.
func Auto() { auto(os.Getenv(variable)) }

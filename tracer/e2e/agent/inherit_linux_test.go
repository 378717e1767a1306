package agent_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/waymark-trace/waymark/tracer"
)

// A command waits for its tracer; programs that it executes do not, because no tracer asks for them.
func TestWaitIsNotInherited(t *testing.T) {
	runtimeDir(t)
	for _, tt := range []struct {
		name, want string
		env        []string
	}{
		{"unset", "unset\n", nil},
		{"set", "1\n", []string{"WAYMARK_AGENT=0", "WAYMARK_AGENT=1"}},
		{"empty", "\n", []string{"WAYMARK_AGENT="}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			c, err := tracer.Start(t.Context(), []string{os.Args[0]}, &tracer.StartOptions{
				Engine: tracer.EngineAgent, Stdout: &out, Stderr: os.Stderr,
				Env: append(append(os.Environ(), "WAYMARK_TEST_ROLE=inherit", "GORACE=atexit_sleep_ms=0"), tt.env...),
			})
			must(t, err)
			must(t, c.Resume())
			must(t, c.Wait())
			if got := out.String(); got != tt.want {
				t.Errorf("the environment of a program that the command executes: %q, want %q", got, tt.want)
			}
		})
	}
}

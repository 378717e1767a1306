//go:build !linux

package tracer

import (
	"context"
	"os"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func guardMain() {}

func chooseEngine(Target) Engine { return EngineKernel }

func find(context.Context, Target) ([]*Marker, error) { return nil, model.ErrPlatform }

func newCounts(Target, []*Marker, options) (counts, error) { return nil, model.ErrPlatform }

func newPairs(Target, []*Marker, []*Marker, *LatencyOptions, options) (pairs, error) {
	return nil, model.ErrPlatform
}

func newEvents(Target, []*Marker, options) (events, error) { return nil, model.ErrPlatform }

func newKernelTracepoints([]string, options) (events, error) { return nil, model.ErrPlatform }

func kernelTracepointNames(string) ([]string, error) { return nil, model.ErrPlatform }

func awaitPatched(context.Context, Target, []*Marker) error { return model.ErrPlatform }

func start(context.Context, []string, *StartOptions) (*command, error) {
	return nil, model.ErrPlatform
}

func startAgent(context.Context, []string, *StartOptions) (*command, error) {
	return nil, model.ErrPlatform
}

// command is never made here.
type command struct{}

func (*command) pid() int               { return 0 }
func (*command) resume() error          { return model.ErrPlatform }
func (*command) wait() error            { return model.ErrPlatform }
func (*command) signal(os.Signal) error { return model.ErrPlatform }

//go:build !linux

package tracer

import (
	"context"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func guardMain() {}

func chooseEngine(context.Context, Target) (t Target, markers []*Marker, err error) {
	return t, nil, model.ErrPlatform
}

func find(context.Context, Target) ([]*Marker, error) { return nil, model.ErrPlatform }

func newCounts(Target, []*Marker, options) (counts, error) { return nil, model.ErrPlatform }

func newPairs(Target, []*Marker, []*Marker, *LatencyOptions, options) (pairs, error) {
	return nil, model.ErrPlatform
}

func newEvents(Target, []*Marker, options) (events, error) { return nil, model.ErrPlatform }

func newKernelTracepoints([]string, options) (events, error) { return nil, model.ErrPlatform }

func kernelTracepointNames(string) ([]string, error) { return nil, model.ErrPlatform }

func awaitPatched(context.Context, Target, []*Marker) error { return model.ErrPlatform }

func start(context.Context, []string, *StartOptions) (startedProcess, Engine, error) {
	return nil, EngineAuto, model.ErrPlatform
}

func newEnding(e engine, _ []int, _ func() error) engine { return e }

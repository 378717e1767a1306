//go:build !linux

package tracer

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// errPlatform is what everything returns where there is no kernel engine.
var errPlatform = fmt.Errorf("tracing on %s: %w", runtime.GOOS, ErrNotSupported)

func guardMain() {}

func find(context.Context, Target) ([]*Marker, error) { return nil, errPlatform }

func findAll(context.Context) ([]Process, error) { return nil, errPlatform }

func newCounts(Target, []*Marker, Options) (counts, error) { return nil, errPlatform }

func newPairs(Target, []*Marker, []*Marker, *LatencyOptions, Options) (pairs, error) {
	return nil, errPlatform
}

func newEvents(Target, []*Marker, Options) (events, error) { return nil, errPlatform }

func newKernelTracepoints([]string, Options) (events, error) { return nil, errPlatform }

func kernelTracepointNames(string) ([]string, error) { return nil, errPlatform }

type resolver struct{}

func (resolver) resolve(*Marker, []string, []error) (*Marker, error) { return nil, errPlatform }

func (resolver) close() {}

func awaitPatched(context.Context, Target, []*Marker) error { return errPlatform }

func planKernelEvents([]*Marker) ([]KernelEvent, error) { return nil, errPlatform }

func defineKernelEvents([]*Marker) ([]KernelEvent, error) { return nil, errPlatform }

func listKernelEvents() ([]KernelEvent, error) { return nil, errPlatform }

func deleteKernelEvent(string, string) error { return errPlatform }

func counterStates(int, []*Marker) ([]CounterState, error) { return nil, errPlatform }

func repairCounter(*CounterState) error { return errPlatform }

func checkSystem() []Check {
	var c checks
	c.err("kernel", StatusFail, errPlatform)
	return c
}

func checkPID(context.Context, int) ([]Check, []*Marker) { return checkSystem(), nil }

func checkFile(context.Context, string) ([]Check, []int) { return checkSystem(), nil }

func start(context.Context, []string, *StartOptions) (*command, error) { return nil, errPlatform }

// command is never made here.
type command struct{}

func (*command) pid() int               { return 0 }
func (*command) resume() error          { return errPlatform }
func (*command) wait() error            { return errPlatform }
func (*command) signal(os.Signal) error { return errPlatform }

func (*Marker) counters(int) ([]uint16, error) { return nil, errPlatform }

func (*File) readFunctions() []function { return nil }

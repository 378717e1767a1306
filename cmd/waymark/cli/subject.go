package cli

import (
	"cmp"
	"context"

	"github.com/waymark-trace/waymark/tracer"
)

// subject is what a command line says to look at: one of PIDs, Path and Command, or nothing. Of a
// command that was started, it is the process PID.
type subject struct {
	PIDs    []int
	Path    string
	Command []string
	Follow  bool
	Engine  tracer.Engine
	PID     int
}

// target returns the processes or the file for package tracer, looked at by the kernel unless Engine
// is set.
func (s subject) target() tracer.Target {
	t := tracer.PIDs(s.PIDs...)
	switch {
	case s.PID != 0:
		t = tracer.PIDs(s.PID)
	case s.Path != "":
		t = tracer.Path(s.Path)
	}
	if s.Follow {
		t = t.Follow()
	}
	return t.By(cmp.Or(s.Engine, tracer.EngineKernel))
}

func (s subject) find(ctx context.Context) ([]*tracer.Marker, error) {
	return tracer.Find(ctx, s.target())
}

package tracer

import (
	"context"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// FindAll returns every running process that has markers, or that could not be looked at,
// in order of PID. Kernel threads are left out, and processes that end meanwhile are no
// error. Each file is read once however many processes map it.
func FindAll(ctx context.Context) ([]Process, error) { return model.FindAll(ctx) }

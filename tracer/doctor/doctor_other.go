//go:build !linux

package doctor

import (
	"context"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func counterStates(int, []*model.Marker) ([]Counter, error) { return nil, model.ErrPlatform }

func repairCounter(*Counter) error { return model.ErrPlatform }

func checkSystem() []Check {
	var c checks
	c.err("kernel", Fail, model.ErrPlatform)
	return c
}

func checkPID(context.Context, int) ([]Check, []*model.Marker) { return checkSystem(), nil }

func checkFile(context.Context, string) ([]Check, []int) { return checkSystem(), nil }

//go:build !linux

package doctor

import (
	"context"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func Counters(int, []*model.Marker) ([]Counter, error) { return nil, model.ErrPlatform }

func Repair(counters []Counter) []error {
	errs := make([]error, len(counters))
	for i := range errs {
		errs[i] = model.ErrPlatform
	}
	return errs
}

func CheckSystem() []Check {
	var c checks
	c.err("kernel", Fail, model.ErrPlatform)
	return c
}

func CheckPID(context.Context, int) ([]Check, []*model.Marker) { return CheckSystem(), nil }

func CheckFile(context.Context, string) ([]Check, []int) { return CheckSystem(), nil }

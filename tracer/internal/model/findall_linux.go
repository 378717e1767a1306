package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/internal/procfs"
)

func findAll(ctx context.Context) ([]Process, error) {
	pids, err := procfs.PIDs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	slices.Sort(pids)
	s := NewScan()
	var all []Process
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st, err := Running(pid)
		if err != nil { // a kernel thread, which maps no files, or a process that has ended
			continue
		}
		p := Process{PID: pid}
		var errs []error
		var files []*Scanned
		files, errs, p.Err = s.mapped(ctx, pid, st)
		for _, r := range files {
			p.Markers = append(p.Markers, r.Markers...)
		}
		if errors.Is(p.Err, ErrNoProcess) {
			continue
		}
		p.Err = errors.Join(append(errs, p.Err)...)
		if len(p.Markers) == 0 && p.Err == nil {
			continue
		}
		if p.Comm, err = procfs.Comm(pid); procfs.Gone(err) {
			continue
		}
		p.OwnPID, _ = procfs.OwnPID(pid) // who is gone by now is shown without
		all = append(all, p)
	}
	return all, nil
}

package tracer

import "context"

func find(context.Context, Target) ([]*Marker, error) { return nil, ErrNotSupported }

func findAll(context.Context) ([]Process, error) { return nil, ErrNotSupported }

func newCounts(Target, []*Marker, Options) (counts, error) { return nil, ErrNotSupported }

func newEvents(Target, []*Marker, Options) (events, error) { return nil, ErrNotSupported }

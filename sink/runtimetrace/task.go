package runtimetrace

import (
	"context"
	"runtime/trace"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink/internal/join"
)

// task is a pair of markers between which a task lies.
type task struct {
	name             string
	beginKey, endKey string
	open             *join.Table[started]
}

type started struct {
	ctx  context.Context // of the task
	task *trace.Task
}

func (s *Sink) beginTask(e *marker.Event, t *task) context.Context {
	ctx, began := trace.NewTask(context.Background(), t.name)
	if k, ok := join.KeyOf(e, t.beginKey); !ok || t.open.Put(k, started{ctx, began}) {
		s.unended.Add(1)
	}
	s.kept.Store(true)
	return ctx
}

func (s *Sink) endTask(e *marker.Event, t *task) (started, bool) {
	if k, ok := join.KeyOf(e, t.endKey); ok {
		if was, ok := t.open.Take(k); ok {
			return was, true
		}
	}
	s.unbegun.Add(1)
	return started{}, false
}

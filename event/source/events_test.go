package source

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/event"
)

// numbered yields events with CPUs that count up from 1 to n, then an error. It counts Read's calls.
type numbered struct {
	Source
	n, reads int
	err      error
}

func (s *numbered) Read(ctx context.Context, e *event.Event) error {
	s.reads++
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.reads > s.n {
		return s.err
	}
	e.CPU = s.reads
	return nil
}

func TestEvents(t *testing.T) {
	broken := errors.New("broken")
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		source numbered
		limit  int // the loop leaves at this event
		want   []int
		err    error
		reads  int
	}{
		{"end", context.Background(), numbered{n: 3, err: io.EOF}, 0, []int{1, 2, 3}, nil, 4},
		{"error", context.Background(), numbered{n: 2, err: broken}, 0, []int{1, 2}, broken, 3},
		{"break", context.Background(), numbered{n: 9, err: io.EOF}, 2, []int{1, 2}, nil, 2},
		{"context", done, numbered{n: 9, err: io.EOF}, 0, nil, context.Canceled, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			var last error
			for e, err := range Events(tt.ctx, &tt.source) {
				if last != nil {
					t.Error("an element follows the error")
				}
				if last = err; err != nil {
					if e != nil {
						t.Error("an error has an event")
					}
					continue
				}
				if got = append(got, e.CPU); e.CPU == tt.limit {
					break
				}
			}
			if !slices.Equal(got, tt.want) || last != tt.err || tt.source.reads != tt.reads {
				t.Errorf("%v, %v after %d reads, want %v, %v after %d", got, last, tt.source.reads, tt.want, tt.err, tt.reads)
			}
		})
	}
}

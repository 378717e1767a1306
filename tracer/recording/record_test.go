package recording_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// epoch is a clock that was 0 at a time of day.
type epoch int64

func (e epoch) Wall(t time.Duration) time.Time { return time.Unix(int64(e), int64(t)) }

// counting is a source of numbered events.
type counting struct {
	point *event.Point
	total int           // then io.EOF, or err
	pause time.Duration // before each event
	err   error
	n     int
}

func newCounting(name string, total int) *counting {
	return &counting{point: &event.Point{Provider: "test", Name: name, Fields: []event.Field{{Name: "n", Kind: event.Int}}}, total: total}
}

func (c *counting) Points() []*event.Point { return []*event.Point{c.point} }
func (c *counting) Order() source.Order    { return source.ByTime }
func (c *counting) Clock() source.Clock    { return epoch(1_700_000_000) }

func (c *counting) Losses() ([]source.Loss, error) {
	return []source.Loss{{CPU: 2, Reason: source.NoRing, Count: 3}, {CPU: 2, Count: 4}}, nil
}

func (c *counting) Read(ctx context.Context, e *event.Event) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.pause):
	}
	if c.n == c.total {
		if c.err != nil {
			return c.err
		}
		return io.EOF
	}
	c.n++
	*e = event.Event{Point: c.point, Time: time.Duration(c.n), PID: 7, TID: 8, Comm: "test", Values: append(e.Values[:0], event.Number(event.Int, uint64(c.n)))}
	return nil
}

// stoppable has events until it is stopped, and then ten more that it had collected.
type stoppable struct {
	*counting
	stop  chan struct{}
	once  sync.Once
	after int
}

func (s *stoppable) Stop() error {
	s.once.Do(func() { close(s.stop) })
	return nil
}

func (s *stoppable) Read(ctx context.Context, e *event.Event) error {
	select {
	case <-s.stop:
		if s.after == 10 {
			return io.EOF
		}
		s.after++
		return s.counting.Read(context.Background(), e)
	default:
		return s.counting.Read(ctx, e)
	}
}

func newStoppable(name string) *stoppable {
	s := &stoppable{counting: newCounting(name, -1), stop: make(chan struct{})}
	s.pause = 10 * time.Millisecond
	return s
}

// readBack returns the number of events of each point in a trace, which are numbered from 1.
func readBack(t *testing.T, dir string) map[string]int {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := map[string]int{}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return seen
		}
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Point.Name]++
		if n := int(e.Values[0].Int()); n != seen[e.Point.Name] {
			t.Fatalf("event %d of %s is number %d", n, e.Point.Name, seen[e.Point.Name])
		}
		if at := r.Clock().Wall(e.Time); at.Unix() != 1_700_000_000 {
			t.Fatalf("event %d is at %v", seen[e.Point.Name], at)
		}
	}
}

// A recording ends for each of the reasons, with the events that the summary counts.
func TestRecord(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name    string
		options recording.Options
		sources func() []source.Source
		limit   time.Duration // of the context, 0 for none
		end     recording.End
		err     error
		want    map[string]int
		lost    uint64
	}{
		{"sources", recording.Options{}, func() []source.Source { return []source.Source{newCounting("a", 100), newCounting("b", 5)} },
			0, recording.EndSources, nil, map[string]int{"a": 100, "b": 5}, 14},
		{"none", recording.Options{}, func() []source.Source { return nil }, 0, recording.EndSources, nil, map[string]int{}, 0},
		{"count", recording.Options{Count: 7}, func() []source.Source { return []source.Source{newStoppable("a")} },
			0, recording.EndCount, nil, map[string]int{"a": 7}, 7},
		{"count of a trace", recording.Options{Count: 7}, func() []source.Source { return []source.Source{newCounting("a", 100)} },
			0, recording.EndCount, nil, map[string]int{"a": 7}, 7},
		// At 5 s there have been 499 events, and one is about to be read.
		{"context", recording.Options{}, func() []source.Source { return []source.Source{newStoppable("a")} },
			5*time.Second - time.Millisecond, recording.EndContext, nil, map[string]int{"a": 510}, 7},
		{"no Stopper", recording.Options{}, func() []source.Source {
			c := newCounting("a", -1)
			c.pause = 10 * time.Millisecond
			return []source.Source{c}
		}, 5*time.Second - time.Millisecond, recording.EndContext, nil, map[string]int{"a": 499}, 7},
		{"error", recording.Options{}, func() []source.Source {
			c := newCounting("a", 9)
			c.err, c.pause = broken, time.Millisecond/2 // before the first event of b
			return []source.Source{c, newStoppable("b")}
		}, 0, recording.EndError, broken, map[string]int{"a": 9, "b": 11}, 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				sum, err := recording.Record(ctx, dir, &tt.options, tt.sources()...)
				if sum.End != tt.end || !errors.Is(err, tt.err) {
					t.Errorf("ended by %d, %v, want %d, %v", sum.End, err, tt.end, tt.err)
				}
				got, total := readBack(t, dir), 0
				for name, n := range tt.want {
					if total += n; got[name] != n {
						t.Errorf("%d events of %s, want %d", got[name], name, n)
					}
				}
				if sum.Received != uint64(total) || sum.Saved() != uint64(total) || sum.Unwritten() != 0 || sum.Total() != tt.lost {
					t.Errorf("%+v, want %d events and %d lost", sum, total, tt.lost)
				}
			})
		})
	}
}

// Every interval the events until then are on disk, and Progress gets their number.
func TestRecordProgress(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		calls := 0
		o := &recording.Options{Interval: 2 * time.Second, Progress: func(s recording.Summary) {
			calls++
			if on := readBack(t, dir)["a"]; s.Saved() == 0 || uint64(on) != s.Saved() || s.Received-s.Saved() > 1 || s.Total() != 7 {
				t.Errorf("call %d: %d on disk, %+v", calls, on, s)
			}
			if calls == 3 {
				cancel()
			}
		}}
		sum, err := recording.Record(ctx, dir, o, newStoppable("a"))
		if err != nil || calls != 3 || sum.End != recording.EndContext {
			t.Errorf("%d calls, %+v, %v", calls, sum, err)
		}
	})
}

// losing is a source that loses an event after every second one, and then waits until it is stopped.
type losing struct {
	*stoppable
	done chan struct{} // closed when it waits
}

func (l *losing) Losses() ([]source.Loss, error) {
	return []source.Loss{{Reason: source.BufferFull, Count: uint64(l.n / 2)}}, nil
}

func (l *losing) Read(ctx context.Context, e *event.Event) error {
	if l.n < 20_000 {
		return l.counting.Read(ctx, e)
	}
	close(l.done)
	<-l.stop
	return io.EOF
}

// What is on disk counts the events lost before the last one there, so that a recording that is killed between two
// saves does not look complete.
func TestFullPacketsCountLosses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	ctx, cancel := context.WithCancel(t.Context())
	s := &losing{newStoppable("a"), make(chan struct{})}
	s.pause = 0
	over := make(chan error)
	go func() {
		_, err := recording.Record(ctx, dir, &recording.Options{Interval: time.Hour}, s)
		over <- err
	}()
	<-s.done
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	last := 0
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = int(e.Values[0].Int())
	}
	lost, err := r.Losses()
	if n := source.Total(lost); err != nil || last == 0 || n < uint64(last/2) {
		t.Errorf("%d events are on disk and %d lost, %v; %d were lost before the last of them", last, n, err, last/2)
	}
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

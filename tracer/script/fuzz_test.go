package script_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/script"
)

// list is a source of events in memory.
type list []event.Event

func (list) Points() []*event.Point         { return []*event.Point{requestStart, requestEnd, switched} }
func (list) Losses() ([]source.Loss, error) { return nil, nil }
func (list) Order() source.Order            { return source.ByTime }
func (list) Clock() source.Clock            { return list{} }
func (list) Wall(t time.Duration) time.Time { return time.Unix(0, int64(t)) }
func (l *list) Read(_ context.Context, e *event.Event) error {
	if len(*l) == 0 {
		return io.EOF
	}
	*e, *l = (*l)[0], (*l)[1:]
	return nil
}

func someEvents() *list {
	var l list
	for i := range 4 {
		l = append(l, event.Event{Point: requestStart, Time: time.Duration(i), PID: 1, Comm: "c", Values: []event.Value{
			event.Number(event.Uint64, uint64(i)), event.Text(event.String, []byte("text\x00x"), 9),
		}}, event.Event{Point: requestEnd, Time: time.Duration(i), Values: []event.Value{
			event.Missing(event.OptimizedOut), event.Number(event.Int32, 1<<40), event.Text(event.String, nil, 0), {}, event.Number(event.Float64, 1<<63),
		}})
	}
	return &l
}

// FuzzRun checks scripts, and runs those that have no mistake: they cannot fail.
func FuzzRun(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n=== ") {
			_, rest, _ := strings.Cut(part, "\n")
			body, _, _ := strings.Cut(rest, "---\n")
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Parse("s", text)
		if err != nil {
			return
		}
		for _, target := range []*script.Target{nil, {Points: list{}.Points(), Args: []string{"1", "word"}}} {
			p, err := s.Check(target)
			for _, e := range script.Errors(err) {
				e.Snippet()
			}
			if err != nil {
				continue
			}
			p.Explain()
			if target == nil {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if _, err := p.Run(ctx, someEvents(), &script.Options{Out: io.Discard, JSON: len(text)%2 == 0}); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
}

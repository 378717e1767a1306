package agent_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/tracer"
)

// found returns the marker of a target, by its agent.
func found(t *testing.T, p *program) (tracer.Target, []*tracer.Marker) {
	t.Helper()
	target := tracer.PIDs(p.PID()).By(tracer.EngineAgent)
	all, err := tracer.Find(t.Context(), target)
	must(t, err)
	markers, err := tracer.Select(all, []string{"target:worked"})
	must(t, err)
	return target, markers
}

// Every hit is an event or counted as lost, in order, with its values.
func TestTrace(t *testing.T) {
	runtimeDir(t)
	for _, tt := range []struct {
		name, where string
		buffer      int
		hits        string
		want        func(i int) int // of event i, its n
		lossy       bool
	}{
		{"all", "", 0, "mark 50000", func(i int) int { return i }, false},
		{"where", `n >= 100 && n < 200 && what ~ "x*"`, 0, "mark 50000", func(i int) int { return 100 + i }, false},
		{"small rings", "", 64 << 10, "mark 500000", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := run(t, nil)
			p.ask("look")
			target, markers := found(t, p)
			before := p.ask("look")
			tr, err := tracer.Trace(target, markers, &tracer.TraceOptions{Attach: tracer.Attach{Where: tt.where, BufferSize: tt.buffer}})
			must(t, err)
			defer tr.Close()
			if s := p.ask(tt.hits); !s.Armed {
				t.Errorf("%+v", s)
			}
			must(t, tr.Stop())
			events, last := 0, -1
			for {
				var e event.Event
				err := tr.Read(context.Background(), &e)
				if errors.Is(err, io.EOF) {
					break
				}
				must(t, err)
				n := int(e.Values[1].Bits())
				if tt.want != nil && n != tt.want(events) || n <= last || string(e.Values[0].Bytes()) != "x" || e.PID != p.PID() || e.Goroutine == 0 {
					t.Fatalf("event %d behind n %d: %+v", events, last, e)
				}
				last = n
				events++
			}
			losses, err := tr.Losses()
			must(t, err)
			lost := source.Total(losses)
			filtered, err := tr.Filtered()
			must(t, err)
			want := 50000
			if tt.lossy {
				want = 500000
			}
			if events+int(lost)+int(filtered) != want || (lost > 0) != tt.lossy {
				t.Errorf("%d events + %d lost + %d filtered are not the %d that were marked", events, lost, filtered, want)
			}
			must(t, tr.Close())
			settled(t, p, before)
		})
	}
}

// Batches have every hit of a CPU in order, with its values, and those that are lost are counted.
func TestBatches(t *testing.T) {
	runtimeDir(t)
	for _, buffer := range []int{0, 64 << 10} {
		const hits = 300_000
		p := run(t, nil)
		p.ask("look")
		target, markers := found(t, p)
		tr, err := tracer.Trace(target, markers, &tracer.TraceOptions{Attach: tracer.Attach{BufferSize: buffer, Where: "n >= 1000"}})
		must(t, err)
		defer tr.Close()
		seen, last, missing := map[uint64]bool{}, map[int]int64{}, map[int]uint64{}
		done := make(chan error, 1)
		go func() {
			done <- tr.Rings().Batches(context.Background(), func(b *ring.Batch) {
				for run := b.Run(); run != nil; run = b.Run() {
					for i := range run.Heads {
						e, args := &run.Heads[i], run.Args(&run.Heads[i])
						marker, texts := run.Events[e.Event], args[run.Events[e.Event].Size:]
						at := marker.Fields[1].Offset
						n := binary.NativeEndian.Uint64(args[at:])
						if before, ok := last[b.CPU]; seen[n] || n < 1000 || ok && int64(n) <= before || string(texts[:1]) != "x" || e.Goroutine == 0 || marker.Name != markers[0].Name {
							t.Errorf("n %d after %d on CPU %d, seen before: %t: %+v", n, before, b.CPU, seen[n], e)
						}
						seen[n], last[b.CPU] = true, int64(n)
					}
				}
				missing[b.CPU] = b.Lost().Total()
			})
		}()
		p.ask(fmt.Sprint("mark ", hits))
		must(t, tr.Stop())
		must(t, <-done)
		losses, err := tr.Losses()
		must(t, err)
		lost := source.Total(losses)
		filtered, err := tr.Filtered()
		must(t, err)
		if len(seen)+int(lost)+int(filtered) != hits || filtered != 1000 {
			t.Errorf("%d events + %d lost + %d filtered are not the %d that were marked", len(seen), lost, filtered, hits)
		}
		for _, n := range missing {
			lost -= n
		}
		if lost != 0 {
			t.Errorf("lost are %d more than batches say", int64(lost))
		}
		must(t, tr.Close())
		if err := tr.Rings().Batches(context.Background(), func(*ring.Batch) {}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
}

// What was recorded before the target died is read, up to the last event.
func TestTraceOfTheDead(t *testing.T) {
	dir := runtimeDir(t)
	for _, how := range []string{"die", "panic"} {
		p := run(t, nil)
		p.ask("look")
		target, markers := found(t, p)
		tr, err := tracer.Trace(target, markers, &tracer.TraceOptions{Attach: tracer.Attach{BufferSize: 64 << 20}})
		must(t, err)
		defer tr.Close()
		p.Tell(how)
		p.Cmd.Wait()
		must(t, tr.Stop())
		events := 0
		for {
			var e event.Event
			err := tr.Read(context.Background(), &e)
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			if n := int(e.Values[1].Bits()); n != events {
				t.Fatalf("event %d has n %d", events, n)
			}
			events++
		}
		if events != 100_000 {
			t.Errorf("%d events before it died, of 100000", events)
		}
		must(t, tr.Close())
	}
	if left := glob(t, dir+"/waymark/*/*.ring"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

func TestTraceRefuses(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	p.ask("look")
	target, markers := found(t, p)
	for _, tt := range []struct {
		o    tracer.TraceOptions
		want string
	}{
		{tracer.TraceOptions{Attach: tracer.Attach{Where: "nobody == 1"}}, "has no field nobody"},
		{tracer.TraceOptions{Attach: tracer.Attach{Where: "n =="}}, "condition"},
		{tracer.TraceOptions{Attach: tracer.Attach{BufferSize: 1 << 30}}, "the agent's limit is 268435456"},
		{tracer.TraceOptions{Attach: tracer.Attach{Strings: []string{"arg1"}}}, "the types of these markers are known"},
	} {
		tr, err := tracer.Trace(target, markers, &tt.o)
		if err == nil {
			tr.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.want)
		}
	}
	var where *tracer.WhereError
	if _, err := tracer.Trace(target, markers, &tracer.TraceOptions{Attach: tracer.Attach{Where: "n == 1 && nobody == 1"}}); !errors.As(err, &where) || where.Hint == "" {
		t.Errorf("%v is no WhereError with a hint", err)
	}
}

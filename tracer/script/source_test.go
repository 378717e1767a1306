package script_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/recording"
	"github.com/waymark-trace/waymark/tracer/script"
)

// program checks a script for the points of list.
func program(t testing.TB, text string) *script.Program {
	t.Helper()
	s, err := script.Parse("s", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Check(&script.Target{Points: list{}.Points()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestIntervals compares intervals with an evaluation of their definition: for random times of events, periods and numbers of intervals.
func TestIntervals(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("WAYMARK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		begin := time.Duration(random.Int64N(1 << 40))
		periods := []time.Duration{time.Duration(1+random.IntN(50)) * time.Microsecond, time.Duration(1+random.IntN(50)) * time.Microsecond}
		var l list
		at := begin
		for i := range 1 + random.IntN(40) {
			l = append(l, event.Event{Point: requestStart, Time: at, Values: []event.Value{event.Number(event.Uint64, uint64(i)), event.Text(event.String, nil, 0)}})
			at += time.Duration(random.IntN(4)) * time.Duration(random.IntN(20)) * time.Microsecond
		}
		p := program(t, fmt.Sprintf(`interval:us:%d { printf("a %%lu %%ld\n", elapsed, @n); } marker:http:request_start { @n++; printf("e %%lu\n", elapsed); } interval:us:%d { printf("b %%lu %%ld\n", elapsed, @n); }
			END { clear(@n); }`, periods[0]/1000, periods[1]/1000))
		var want strings.Builder
		for i, e := range l {
			for now := begin; now <= e.Time; now += time.Microsecond { // every instant since the beginning, of which one may have passed before
				if i > 0 && now <= l[i-1].Time || i == 0 && now < e.Time {
					continue
				}
				for j, period := range periods {
					if since := now - begin; since > 0 && since%period == 0 {
						fmt.Fprintf(&want, "%c %d %d\n", 'a'+j, since, i)
					}
				}
			}
			fmt.Fprintf(&want, "e %d\n", e.Time-begin)
		}
		var got bytes.Buffer
		if _, err := p.Run(context.Background(), &l, &script.Options{Out: &got}); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Fatalf("periods %v: got\n%s\nwant\n%s", periods, got.String(), want.String())
		}
	}
}

// TestEscape shows what a terminal might act on, in texts of events alone.
func TestEscape(t *testing.T) {
	for escape, want := range map[bool]string{
		true:  "\x1b[1m\\x1b[31mred\\x0aä\\xff\\xe2\\x80\\xae\x1b[0m\n@[\\x1b[31mred\\x0aä\\xff\\xe2\\x80\\xae]: 1\n",
		false: "\x1b[1m\x1b[31mred\nä\xff\u202e\x1b[0m\n@[\x1b[31mred\nä\xff\u202e]: 1\n",
	} {
		l := list{{Point: requestStart, Values: []event.Value{event.Number(event.Uint64, 1), event.Text(event.String, []byte("\x1b[31mred\nä\xff\u202e"), 15)}}}
		var got bytes.Buffer
		p := program(t, `marker:http:request_start { printf("\033[1m%s\033[0m\n", args.path); @[args.path] = count(); }`)
		if _, err := p.Run(context.Background(), &l, &script.Options{Out: &got, Escape: escape}); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("escape %t: %q, want %q", escape, got.String(), want)
		}
	}
}

// broken fails after its events.
type broken struct {
	list
	err error
}

func (b *broken) Read(ctx context.Context, e *event.Event) error {
	if err := b.list.Read(ctx, e); !errors.Is(err, io.EOF) {
		return err
	}
	return b.err
}

func (b *broken) Losses() ([]source.Loss, error) { return []source.Loss{{Count: 3}}, nil }

// TestDamage executes END and prints the maps although the source ends with an error, and reports losses.
func TestDamage(t *testing.T) {
	damage := errors.New("damaged")
	var got bytes.Buffer
	p := program(t, `marker:http:request_start { @ = count(); } END { print("end"); }`)
	result, err := p.Run(context.Background(), &broken{*someEvents(), damage}, &script.Options{Out: &got, JSON: true})
	if !errors.Is(err, damage) || result.Lost != 3 || result.Events != 4 {
		t.Errorf("%+v, %v", result, err)
	}
	const want = `{"type": "attached_probes", "count": 2, "data": {"probes": 2}}
{"type": "value", "data": "end"}
{"type": "lost_events", "count": 3, "data": {"events": 3}}
{"type": "map", "data": {"@": 4}}
`
	if got.String() != want {
		t.Errorf("%s, want %s", got.String(), want)
	}
}

// TestInterrupt ends a script as exit() does when its context ends, also one that loops.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var got bytes.Buffer
	l := interrupted{someEvents(), cancel}
	p := program(t, `marker:http:request_start { @ = count(); } END { for ($i : 0..5000) { @loops++; } }`)
	if _, err := p.Run(ctx, l, &script.Options{Out: &got}); err != nil {
		t.Fatal(err)
	}
	if got.String() != "@: 1\n@loops: 5000\n" {
		t.Errorf("%s", got.String())
	}
}

// interrupted ends a context at its second event.
type interrupted struct {
	*list
	cancel func()
}

func (i interrupted) Read(ctx context.Context, e *event.Event) error {
	if len(*i.list) == 7 {
		i.cancel()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return i.list.Read(ctx, e)
}

// failing is a writer that is full.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestOutputFails ends the run with the error of the output.
func TestOutputFails(t *testing.T) {
	full := errors.New("disk full")
	l := someEvents()
	_, err := program(t, `marker:http:request_start { print(args.id); }`).Run(context.Background(), l, &script.Options{Out: failing{full}})
	if !errors.Is(err, full) || len(*l) < 5 {
		t.Errorf("%v, %d events left", err, len(*l))
	}
}

// TestSystem runs commands only where that is permitted.
func TestSystem(t *testing.T) {
	s, err := script.Parse("s", `END { system("echo %s; exit 3", "out"); }`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(&script.Target{}); err == nil || script.Errors(err)[0].Hint == "" {
		t.Error(err)
	}
	p, err := s.Check(&script.Target{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	_, err = p.Run(context.Background(), &list{}, &script.Options{Out: &got, Message: func(severity, at, text string) { fmt.Fprintln(&got, severity, at, text) }})
	if err != nil || got.String() != "WARNING s:1:7 system: exit status 3\nout\n" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

// BenchmarkCount executes count() by a field.
func BenchmarkCount(b *testing.B) {
	p := program(b, `marker:http:request_start { @[args.id] = count(); }`)
	l := make(list, b.N)
	for i := range l {
		l[i] = event.Event{Point: requestStart, Time: time.Duration(i), Values: []event.Value{event.Number(event.Uint64, uint64(i%100)), event.Text(event.String, nil, 0)}}
	}
	b.ResetTimer()
	if _, err := p.Run(context.Background(), &l, &script.Options{Out: io.Discard}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRecorded counts by a field of a recorded trace, from reading it to the last map.
func BenchmarkRecorded(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "trace")
	w, err := recording.Create(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := w.Channel("kernel", "buffer_full")
	if err != nil {
		b.Fatal(err)
	}
	values := []event.Value{event.Number(event.Uint64, 0), event.Text(event.String, []byte("/index.html"), 11)}
	for i := range max(b.N, 1000) {
		values[0] = event.Number(event.Uint64, uint64(i%100))
		if err := c.Write(&event.Event{Point: requestStart, Time: time.Duration(i), PID: 1, Comm: "server", Values: values}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	p, err := checkOn(r, `marker:http:request_start { @[args.id] = count(); }`, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := p.Run(context.Background(), r, &script.Options{Out: io.Discard}); err != nil {
		b.Fatal(err)
	}
}

package tracepoint_test

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracepoint"
)

type entry struct {
	key string
	age int
}

type keyed interface{ Key() string }

func (e *entry) Key() string { return e.key }

var (
	evict   = tracepoint.New2[*entry, map[string]int]("tp:evict")
	iface   = tracepoint.New1[keyed]("tp:iface")
	none    = tracepoint.New0("tp:none")
	eight   = tracepoint.New8[int, string, []byte, *entry, func(), error, [3]int, struct{ a, b int }]("tp:eight")
	panicky = tracepoint.New1[int]("tp:panicky")
	loop    = tracepoint.New1[int]("tp:loop")
	storm   = tracepoint.New2[int, *entry]("tp:storm")
	named   = tracepoint.New2[string, complex64]("tp:named", "key", "at")
	few     = tracepoint.New2[int, int]("tp:few", "a")        //waymark:ignore wrong names are what is tested
	twice   = tracepoint.New2[int, int]("tp:twice", "a", "a") //waymark:ignore wrong names are what is tested
	blank   = tracepoint.New1[int]("tp:blank", "")            //waymark:ignore wrong names are what is tested
	wrong   = tracepoint.New0("t p")                          //waymark:ignore a wrong name is what is tested
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegisteringArms(t *testing.T) {
	var got []string
	e, m, before := &entry{"k", 3}, map[string]int{"a": 1}, evict.Info()
	evict.Trace(e, m)
	first, err := evict.Register(func(e *entry, m map[string]int) { got = append(got, "first "+e.key) })
	must(t, err)
	second, err := evict.Register(func(e *entry, m map[string]int) {
		e.age += m["a"]
		got = append(got, "second")
	})
	must(t, err)
	evict.Trace(e, m)
	if i := evict.Info(); i.Armed != 2 || i.Hits-before.Hits != 1 || len(i.Probes) != 2 || !reflect.DeepEqual(i.Fields, []tracepoint.Field{{Name: "arg1", Type: "*tracepoint_test.entry", Kind: event.Pointer}, {Name: "arg2", Type: "map[string]int", Kind: event.Pointer}}) {
		t.Errorf("%+v", i)
	}
	first.Unregister()
	first.Unregister()
	if !evict.Enabled() {
		t.Error("the first to leave disarmed the second")
	}
	evict.Trace(e, m)
	second.Unregister()
	if evict.Enabled() {
		t.Error("enabled without a probe")
	}
	evict.Trace(e, m)
	if want := []string{"first k", "second", "second"}; !slices.Equal(got, want) || e.age != 5 {
		t.Errorf("calls %q, want %q; age %d", got, want, e.age)
	}
}

func TestAnyTypes(t *testing.T) {
	failed := errors.New("no")
	calls := 0
	p, err := eight.Register(func(a int, b string, c []byte, d *entry, e func(), f error, g [3]int, h struct{ a, b int }) {
		e()
		if a != 1 || b != "b" || string(c) != "c" || d.key != "d" || f != failed || g != [3]int{1, 2, 3} || h.b != 9 {
			t.Error("arguments were mangled")
		}
	})
	must(t, err)
	defer p.Unregister()
	//waymark:ignore a probe is registered
	eight.Trace(1, "b", []byte("c"), &entry{key: "d"}, func() { calls++ }, failed, [3]int{1, 2, 3}, struct{ a, b int }{8, 9})
	q, err := iface.Register(func(k keyed) { calls += len(k.Key()) })
	must(t, err)
	defer q.Unregister()
	//waymark:ignore a probe is registered
	iface.Trace(&entry{key: "four"})
	if calls != 5 {
		t.Errorf("%d calls", calls)
	}
}

func TestRefuses(t *testing.T) {
	tracepoint.OnProblem(func(error) {})
	defer tracepoint.OnProblem(nil)
	if _, err := none.Register(nil); err == nil || none.Enabled() {
		t.Errorf("a nil probe: %v, enabled %t", err, none.Enabled())
	}
	if _, err := wrong.Register(func() {}); err == nil || !strings.Contains(err.Error(), `tracepoint "t p"`) || wrong.Enabled() {
		t.Errorf("a wrong name: %v", err)
	}
	var zero tracepoint.Tracepoint0 //waymark:ignore a tracepoint that no New made is what is tested
	zero.Trace()
	if _, err := zero.Register(func() {}); err == nil {
		t.Error("a probe was registered at the zero tracepoint")
	}
}

func TestPanickingProbe(t *testing.T) {
	var reported []string
	tracepoint.OnProblem(func(err error) { reported = append(reported, err.Error()) })
	defer tracepoint.OnProblem(nil)
	calls, before := 0, panicky.Info()
	for i := range 5 {
		p, err := panicky.Register(func(int) {
			calls++
			if i%2 == 1 {
				panic(i)
			}
		})
		must(t, err)
		defer p.Unregister()
	}
	panicky.Trace(1)
	panicky.Trace(2)
	if calls != 5+3 || len(reported) != 2 || !strings.Contains(reported[0], `"tp:panicky"`) {
		t.Errorf("%d calls, reported %q", calls, reported)
	}
	if i := panicky.Info(); i.Armed != 3 || i.Panics-before.Panics != 2 {
		t.Errorf("a probe that panicked keeps the tracepoint armed: %+v", i)
	}
}

func TestRecursionAndExit(t *testing.T) {
	calls, before := 0, loop.Info()
	var p *tracepoint.Probe
	p, err := loop.Register(func(n int) {
		calls++
		loop.Trace(n + 1)
		p.Unregister() // inside itself
		runtime.Goexit()
	})
	must(t, err)
	done := make(chan bool)
	go func() {
		defer close(done)
		loop.Trace(0)
	}()
	<-done
	p.Unregister() // would wait for ever for a call that was never counted out
	loop.Trace(0)
	if calls != 1 || loop.Enabled() || loop.Info().Nested-before.Nested != 1 {
		t.Errorf("%d calls, %+v, before %+v", calls, loop.Info(), before)
	}
}

func TestAll(t *testing.T) {
	n := 0
	for _, i := range tracepoint.All() {
		if i.Name == "tp:eight" && len(i.Fields) == 8 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("tp:eight is listed %d times", n)
	}
}

// The declaration names all arguments or none. A wrong list is an error of Info, and does not prevent
// tracing.
func TestFieldNames(t *testing.T) {
	for _, tt := range []struct {
		of   *tracepoint.Tracepoint
		want []string
		err  string
	}{
		{&named.Tracepoint, []string{"key", "at"}, ""},
		{&evict.Tracepoint, []string{"arg1", "arg2"}, ""},
		{&none.Tracepoint, nil, ""},
		{&few.Tracepoint, []string{"arg1", "arg2"}, `tracepoint "tp:few": it names 1 of 2 arguments`},
		{&twice.Tracepoint, []string{"arg1", "arg2"}, `tracepoint "tp:twice": two fields are called a`},
		{&blank.Tracepoint, []string{"arg1"}, `tracepoint "tp:blank": field is empty`},
		{&wrong.Tracepoint, nil, `tracepoint "t p": name "t p" has " " at byte 1; letters, digits and _ are allowed`},
	} {
		i := tt.of.Info()
		var names []string
		for _, f := range i.Fields {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, tt.want) || (i.Err == nil) != (tt.err == "") || i.Err != nil && i.Err.Error() != tt.err {
			t.Errorf("%s: %q, %v", i.Name, names, i.Err)
		}
	}
	few.Trace(1, 2)
	if _, err := few.Register(func(int, int) {}); err == nil || !strings.Contains(err.Error(), "it names 1 of 2") || few.Enabled() {
		t.Errorf("registering: %v", err)
	}
	p, err := named.Register(func(string, complex64) {})
	must(t, err)
	defer p.Unregister()
	want := []tracepoint.Field{{Name: "key", Type: "string", Kind: event.String}, {Name: "at", Type: "complex64", Unavailable: "a complex number is not recorded"}}
	if i := named.Info(); !reflect.DeepEqual(i.Fields, want) {
		t.Errorf("%+v", i)
	}
}

func TestNoAllocations(t *testing.T) {
	e := &entry{}
	if a := testing.AllocsPerRun(1000, func() { storm.Trace(1, e) }); a != 0 {
		t.Errorf("a disabled Trace allocates %v times", a)
	}
	p, err := storm.Register(func(int, *entry) {})
	must(t, err)
	defer p.Unregister()
	if a := testing.AllocsPerRun(1000, func() { storm.Trace(1, e) }); a != 0 {
		t.Errorf("an enabled Trace allocates %v times", a)
	}
}

// After Unregister returns, the probe is not running and will not run again.
func TestStorm(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	var stop atomic.Bool
	var tracing, changing sync.WaitGroup
	var failed, calls, traced atomic.Int64
	lasting, err := storm.Register(func(int, *entry) { calls.Add(1) })
	must(t, err)
	for range 16 {
		tracing.Go(func() {
			for i := 0; !stop.Load(); i++ {
				storm.Trace(i, nil)
				traced.Add(1)
				if i%256 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for range 4 {
		changing.Go(func() {
			for range rounds {
				var dead atomic.Bool
				p, err := storm.Register(func(int, *entry) {
					if dead.Load() {
						failed.Add(1)
					}
					runtime.Gosched()
					if dead.Load() {
						failed.Add(1)
					}
				})
				if err != nil {
					failed.Add(1)
					return
				}
				runtime.Gosched()
				p.Unregister()
				dead.Store(true)
			}
		})
	}
	changing.Wait()
	stop.Store(true)
	tracing.Wait()
	lasting.Unregister()
	if failed.Load() != 0 || calls.Load() != traced.Load() || storm.Enabled() {
		t.Errorf("%d failures; %d calls of a lasting probe for %d passes; enabled %t", failed.Load(), calls.Load(), traced.Load(), storm.Enabled())
	}
}

package marker_test

import (
	"errors"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

var (
	plain  = marker.New2[string, int]("test:plain", "path %s attempt %d")
	silent = marker.New0("test:silent", "")
	costs  = marker.New3[int, string, float64]("test:costs", "n %d s %s f %g")
	self   = marker.New1[int]("test:self", "n %d")
	panics = marker.New1[int]("test:panics", "n %d")
	waits  = marker.New1[int]("test:waits", "n %d")
	deep   = marker.New1[int]("test:deep", "n %d")
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegisterArmDisarm(t *testing.T) {
	var got []string
	p, err := plain.Register(func(path string, attempt int) { got = append(got, path) })
	must(t, err)
	if plain.Enabled() {
		t.Error("registering armed the marker")
	}
	plain.Mark("before", 0)
	must(t, plain.Arm())
	must(t, plain.Arm())
	plain.Mark("one", 1)
	must(t, plain.Disarm())
	plain.Mark("two", 2)
	must(t, plain.Disarm())
	plain.Mark("after", 3)
	if err := plain.Disarm(); !errors.Is(err, marker.ErrNotArmed) {
		t.Errorf("Disarm of a marker that is not armed: %v", err)
	}
	must(t, plain.Arm())
	p.Unregister()
	p.Unregister()
	plain.Mark("unregistered", 4)
	must(t, plain.Disarm())
	if want := []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if plain.Name() != "test:plain" || plain.Format() != "path %s attempt %d" {
		t.Errorf("Name %q, Format %q", plain.Name(), plain.Format())
	}
}

func TestOrderOfProbes(t *testing.T) {
	var got []int
	for i := range 3 {
		p, err := silent.Register(func() { got = append(got, i) })
		must(t, err)
		defer p.Unregister()
	}
	must(t, silent.Arm())
	silent.Mark()
	must(t, silent.Disarm())
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("probes called in order %v", got)
	}
}

// Every Name of a marker is the one to ask for it by.
func TestNameIsAsDeclared(t *testing.T) {
	var event string
	p, err := marker.Register(silent.Name(), silent.Format(), func(e *marker.Event) { event = e.Name() }, nil)
	must(t, err)
	defer p.Unregister()
	must(t, marker.Arm(silent.Name()))
	silent.Mark()
	must(t, marker.Disarm(silent.Name()))
	if p.Pending() || event != silent.Name() || silent.Info().Name != silent.Name() {
		t.Errorf("pending %t, names %q, %q, %q", p.Pending(), silent.Name(), event, silent.Info().Name)
	}
}

func TestWrongDeclarations(t *testing.T) {
	var reported []string
	marker.OnProblem(func(err error) { reported = append(reported, err.Error()) })
	defer marker.OnProblem(nil)
	bad := marker.New1[int]("test:bad", "n %s") //waymark:ignore a wrong format, made anew by each run, is what is tested
	badNm := marker.New0("te st", "")           //waymark:ignore a wrong name is what is tested
	_, err := bad.Register(func(int) {})
	if err == nil || !strings.Contains(err.Error(), `marker "test:bad": format "n %s": %s cannot print field n, which is int`) {
		t.Errorf("registering at a wrong format: %v", err)
	}
	if _, err := badNm.Register(func() {}); err == nil || !strings.Contains(err.Error(), `"te st"`) {
		t.Errorf("registering at a wrong name: %v", err)
	}
	if len(reported) != 2 {
		t.Errorf("reported %q, want two problems, once each", reported)
	}
	if _, err := plain.Register(nil); err == nil {
		t.Error("a nil probe was registered")
	}
	var zero marker.Marker0 //waymark:ignore a marker that no New made is what is tested
	zero.Mark()             // a marker that no New made is never armed
	if _, err := zero.Register(func() {}); err == nil {
		t.Error("a probe was registered at the zero marker")
	}
	var zero2 marker.Marker2[int, string] //waymark:ignore as above
	isHere := regexp.MustCompile(`a marker of \(int, string\), used at .*/marker_test.go:\d+, was not made by marker.New2`)
	if _, err := zero2.Register(func(int, string) {}); err == nil || !isHere.MatchString(err.Error()) {
		t.Errorf("registering at a zero marker: %v", err)
	}
	isHere = regexp.MustCompile(`arming: a marker, used at .*/marker_test.go:\d+, was not made by marker.NewN`)
	if err := zero2.Arm(); err == nil || !isHere.MatchString(err.Error()) {
		t.Errorf("arming a zero marker: %v", err)
	}
}

func TestPanickingProbe(t *testing.T) {
	var reported []string
	marker.OnProblem(func(err error) { reported = append(reported, err.Error()) })
	defer marker.OnProblem(nil)
	calls := 0
	_, err := panics.Register(func(int) { panic("no") })
	must(t, err)
	p, err := panics.Register(func(int) { calls++ })
	must(t, err)
	defer p.Unregister()
	must(t, panics.Arm())
	for range 3 {
		panics.Mark(1)
	}
	must(t, panics.Disarm())
	if calls != 3 {
		t.Errorf("the other probe was called %d times, want 3", calls)
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "test:panics") {
		t.Errorf("reported %q, want the panic once", reported)
	}
}

type nilled struct{ cause error }

func (n *nilled) Error() string { return n.cause.Error() }

// A value passed to panic must not crash the program when it is formatted.
func TestPanicWithTypedNil(t *testing.T) {
	var reported []error
	marker.OnProblem(func(err error) { reported = append(reported, err) })
	defer marker.OnProblem(nil)
	_, err := panics.Register(panicWithTypedNil)
	must(t, err)
	calls := 0
	p, err := panics.Register(func(int) { calls++ })
	must(t, err)
	defer p.Unregister()
	must(t, panics.Arm())
	panics.Mark(1)
	must(t, panics.Disarm())
	if calls != 1 || len(reported) != 1 {
		t.Fatalf("the other probe was called %d times, reported %q", calls, reported)
	}
	if got := reported[0].Error(); !strings.HasSuffix(got, "marker_test.panicWithTypedNil panicked and was disconnected: a value of type *marker_test.nilled") {
		t.Errorf("reported %s", got)
	}
	var panicked *marker.PanicError
	if !errors.As(reported[0], &panicked) || !strings.Contains(string(panicked.Stack), "marker_test.panicWithTypedNil(") {
		t.Errorf("the stack does not lead to the probe: %+v", panicked)
	}
}

func panicWithTypedNil(int) { panic((*nilled)(nil)) }

func TestGoexitInProbe(t *testing.T) {
	p, err := deep.Register(func(int) { runtime.Goexit() })
	must(t, err)
	must(t, deep.Arm())
	done := make(chan bool)
	go func() {
		defer close(done)
		deep.Mark(1)
	}()
	<-done
	must(t, deep.Disarm())
	p.Unregister() // would wait for ever for a call that was never counted out
}

func TestUnregisterInsideProbe(t *testing.T) {
	var p *marker.Probe
	calls := 0
	p, err := self.Register(func(int) {
		calls++
		p.Unregister()
	})
	must(t, err)
	must(t, self.Arm())
	self.Mark(1)
	self.Mark(2)
	must(t, self.Disarm())
	if calls != 1 {
		t.Errorf("called %d times, want once", calls)
	}
}

// Unregister waits for a call in progress also when the probe is off the list already.
func TestUnregisterAfterPanicWaits(t *testing.T) {
	marker.OnProblem(func(error) {})
	defer marker.OnProblem(nil)
	inside, release := make(chan bool), make(chan bool)
	var running atomic.Bool
	p, err := waits.Register(func(n int) {
		if n == 0 {
			panic("off the list")
		}
		running.Store(true)
		inside <- true
		<-release
		running.Store(false)
	})
	must(t, err)
	must(t, waits.Arm())
	defer waits.Disarm()
	go waits.Mark(1)
	<-inside
	waits.Mark(0)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			p.Unregister()
			if running.Load() {
				t.Error("Unregister returned while the probe was running")
			}
		})
	}
	runtime.Gosched()
	close(release)
	wg.Wait()
}

func TestNoAllocations(t *testing.T) {
	n, s, f := 3, "text", 2.5
	if a := testing.AllocsPerRun(1000, func() { costs.Mark(n, s, f) }); a != 0 {
		t.Errorf("a disabled Mark allocates %v times", a)
	}
	p, err := costs.Register(func(int, string, float64) {})
	must(t, err)
	defer p.Unregister()
	must(t, costs.Arm())
	defer costs.Disarm()
	if a := testing.AllocsPerRun(1000, func() { costs.Mark(n, s, f) }); a != 0 {
		t.Errorf("an enabled Mark allocates %v times", a)
	}
}

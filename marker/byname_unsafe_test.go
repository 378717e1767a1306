package marker_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/marker"
)

type named string

var (
	byName  = marker.New3[string, int, bool]("byname:one", "path %s attempt %d ok %t")
	twin1   = marker.New1[int]("byname:twin", "n %d") //waymark:ignore two markers of one name are what is tested
	twin2   = marker.New1[int]("byname:twin", "n %d") //waymark:ignore two markers of one name are what is tested
	allArgs = marker.New8[int8, uint16, float32, named, []byte, unsafe.Pointer, uintptr, bool](
		"byname:all", "a %d b %u c %g d %s e %x f %p g %x h %v")
	recurse = marker.New1[int]("byname:recurse", "n %d")
	chain   = [...]*marker.Marker1[int]{&chain0, &chain1, &chain2}
	chain0  = marker.New1[int]("byname:chain0", "n %d")
	chain1  = marker.New1[int]("byname:chain1", "n %d")
	chain2  = marker.New1[int]("byname:chain2", "n %d")
	exits   = marker.New1[int]("byname:exits", "n %d")
	quiet   = marker.New2[int, unsafe.Pointer]("byname:quiet", "n %d p %p")
)

func TestRegisterByName(t *testing.T) {
	type private struct{ events []string }
	mine := &private{}
	p, err := marker.Register("byname:one", "path %s attempt %d ok %t", func(ev *marker.Event) {
		d := ev.Data().(*private)
		d.events = append(d.events, fmt.Sprintf("%s %q %s %v %d %v", ev.Name(), ev.Format(), ev, ev.Arg(0).Text(), ev.Arg(1).Int(), ev.Arg(2).Bool()))
	}, mine)
	must(t, err)
	if p.Pending() || byName.Enabled() {
		t.Errorf("pending %t, enabled %t after registering at a marker that exists", p.Pending(), byName.Enabled())
	}
	byName.Mark("/off", 0, false)
	must(t, marker.Arm("byname:one"))
	byName.Mark("/x", -3, true)
	must(t, marker.Disarm("byname:one"))
	byName.Mark("/off", 0, false)
	if err := marker.Disarm("byname:one"); !errors.Is(err, marker.ErrNotArmed) {
		t.Errorf("disarming what is not armed: %v", err)
	}
	p.Unregister()
	must(t, byName.Arm())
	byName.Mark("/unregistered", 0, false)
	if err := marker.Disarm("byname:one"); !errors.Is(err, marker.ErrNotArmed) {
		t.Errorf("disarming by name what was armed by type: %v", err)
	}
	must(t, byName.Disarm())
	want := []string{`byname:one "path %s attempt %d ok %t" path /x attempt -3 ok true /x -3 true`}
	if !slices.Equal(mine.events, want) {
		t.Errorf("events %q, want %q", mine.events, want)
	}
}

func TestRegisterByNameRefuses(t *testing.T) {
	nothing := func(*marker.Event) {}
	for _, tt := range []struct {
		name, format, want string
		fn                 func(*marker.Event)
	}{
		{"byname:one", "path %s", `marker "byname:one" has format "path %s attempt %d ok %t", the probe "path %s"`, nothing},
		{"byname:one", "%y", "is not one of", nothing},
		{"by name", "", "letters, digits", nothing},
		{"byname:one", "", "the function is nil", nil},
	} {
		_, err := marker.Register(tt.name, tt.format, tt.fn, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Register(%q, %q): %v, want %q", tt.name, tt.format, err, tt.want)
		}
	}
	//waymark:ignore a format that differs is what is tested
	if _, err := marker.Register("byname:one", "path", nothing, nil); !errors.Is(err, marker.ErrFormat) {
		t.Errorf("a format that differs: %v", err)
	}
	if err := marker.Arm("byname:nobody"); !errors.Is(err, marker.ErrUnknown) {
		t.Errorf("arming a name that nobody has: %v", err)
	}
	if err := marker.Disarm("byname:nobody"); !errors.Is(err, marker.ErrNotArmed) {
		t.Errorf("disarming a name that nobody has: %v", err)
	}
}

// Two markers of one name are two sites of one.
func TestTwins(t *testing.T) {
	sum := 0
	p, err := marker.Register("byname:twin", "", func(ev *marker.Event) { sum += int(ev.Arg(0).Int()) }, nil)
	must(t, err)
	must(t, marker.Arm("byname:twin"))
	twin1.Mark(1)
	twin2.Mark(10)
	must(t, marker.Disarm("byname:twin"))
	p.Unregister()
	if sum != 11 {
		t.Errorf("sum %d, want 11 from both", sum)
	}
}

// A panic at one marker of a name disconnects the probe from the others too.
func TestPanicByName(t *testing.T) {
	marker.OnProblem(func(error) {})
	defer marker.OnProblem(nil)
	calls := 0
	p, err := marker.Register("byname:twin", "", func(*marker.Event) {
		calls++
		panic("no")
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, marker.Arm("byname:twin"))
	defer marker.Disarm("byname:twin")
	twin1.Mark(1)
	twin1.Mark(2)
	twin2.Mark(3)
	if calls != 1 {
		t.Errorf("called %d times, want once", calls)
	}
}

func TestPending(t *testing.T) {
	if !peer.Alone(t) {
		return
	}
	got := make(chan string, 1)
	p, err := marker.Register("byname:late", "n %d", func(ev *marker.Event) { got <- ev.String() }, nil)
	must(t, err)
	defer p.Unregister()
	if !p.Pending() {
		t.Fatal("a probe is not pending, and there is no marker")
	}
	if i := slices.IndexFunc(marker.All(), func(i marker.Info) bool { return i.Name == "byname:late" }); i < 0 || !marker.All()[i].Pending || len(marker.All()[i].Probes) != 1 {
		t.Error("the pending probe is not listed")
	}
	must(t, marker.Arm("byname:late"))
	defer marker.Disarm("byname:late")
	appear()
	for deadline := time.Now().Add(time.Minute); p.Pending(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the marker was not found within a minute")
		}
	}
	appears.Mark(7)
	if s := <-got; s != "n 7" {
		t.Errorf("event %q", s)
	}
}

var appears marker.Marker1[int] //waymark:ignore a marker that appears late is what is tested

// appear writes a marker as the initialization of a package does if the compiler did not lay it out
// statically.
//
//go:norace
func appear() {
	appears = marker.New1[int]("byname:late", "n %d") //waymark:ignore a marker that appears late is what is tested
}

func TestEventOfEveryKind(t *testing.T) {
	x := 5
	ptr := unsafe.Pointer(&x)
	var text string
	var kinds []reflect.Kind
	var values []any
	var fields []marker.Field
	p, err := marker.Register("byname:all", "", func(ev *marker.Event) {
		text, fields = ev.String(), ev.Fields()
		for i := range ev.Len() {
			kinds = append(kinds, ev.Arg(i).Kind())
			values = append(values, ev.Arg(i).Any())
		}
		if ev.Arg(3).Uint() != 0 || ev.Arg(0).Text() != "" || ev.Arg(0).Float() != 0 || ev.Arg(0).Bytes() != nil || ev.Arg(2).Int() != 0 {
			t.Error("a value of one kind is read as another")
		}
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, allArgs.Arm())
	defer allArgs.Disarm()
	//waymark:ignore it is armed
	allArgs.Mark(-1, 65535, 2.5, "text", []byte{1, 0xab}, ptr, 0x10, true)
	if want := fmt.Sprintf("a -1 b 65535 c 2.5 d text e 01ab f %p g 10 h true", ptr); text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	if want := []reflect.Kind{reflect.Int8, reflect.Uint16, reflect.Float32, reflect.String, reflect.Slice, reflect.UnsafePointer, reflect.Uintptr, reflect.Bool}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	if want := []any{int8(-1), uint16(65535), float32(2.5), "text", []byte{1, 0xab}, ptr, uintptr(0x10), true}; !reflect.DeepEqual(values, want) {
		t.Errorf("values %v, want %v", values, want)
	}
	if f := fields[3]; !reflect.DeepEqual(f, marker.Field{Name: "d", Type: "marker_test.named", Kind: event.String, Verb: "%s"}) {
		t.Errorf("field %+v", f)
	}
}

// A probe that marks its own marker is not called by that, directly or through others.
func TestRecursion(t *testing.T) {
	calls, before := 0, recurse.Info()
	p, err := recurse.Register(func(n int) {
		calls++
		recurse.Mark(n + 1)
	})
	must(t, err)
	defer p.Unregister()
	must(t, recurse.Arm())
	for range 3 {
		recurse.Mark(0)
	}
	must(t, recurse.Disarm())
	if i := recurse.Info(); calls != 3 || i.Hits-before.Hits != 6 || i.Nested-before.Nested != 3 {
		t.Errorf("%d calls, %+v; want 3 calls, 6 hits, 3 nested", calls, i)
	}

	calls = 0
	for i, m := range chain {
		p, err := m.Register(func(n int) {
			calls++
			chain[(i+1)%len(chain)].Mark(n + 1)
		})
		must(t, err)
		defer p.Unregister()
		must(t, m.Arm())
		defer m.Disarm()
	}
	chain0.Mark(0)
	if calls != len(chain) {
		t.Errorf("%d calls around a ring of %d markers", calls, len(chain))
	}
}

// Other goroutines' passes are not taken for recursion.
func TestSameMarkerOnManyGoroutines(t *testing.T) {
	const goroutines = 300
	before := exits.Info()
	inside := make(chan bool, goroutines)
	release := make(chan bool)
	p, err := exits.Register(func(int) {
		inside <- true
		<-release
	})
	must(t, err)
	defer p.Unregister()
	must(t, exits.Arm())
	defer exits.Disarm()
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() { exits.Mark(i) })
	}
	for range goroutines {
		<-inside
	}
	close(release)
	wg.Wait()
	if i := exits.Info(); i.Hits-before.Hits != goroutines || i.Nested != before.Nested {
		t.Errorf("%+v, want %d hits and none nested", i, goroutines)
	}
}

func TestByNameAllocatesNothing(t *testing.T) {
	x := 3
	buf := make([]byte, 0, 256)
	p, err := marker.Register("byname:quiet", "n %d p %p", func(ev *marker.Event) { buf = ev.AppendText(buf[:0]) }, nil)
	must(t, err)
	defer p.Unregister()
	must(t, quiet.Arm())
	defer quiet.Disarm()
	ptr := unsafe.Pointer(&x)
	if a := testing.AllocsPerRun(1000, func() { quiet.Mark(12345, ptr) }); a != 0 {
		t.Errorf("marking by name with its text formatted allocates %v times", a)
	}
	runtime.KeepAlive(&x)
}

func TestAll(t *testing.T) {
	p, err := byName.Register(probeOfAll)
	must(t, err)
	defer p.Unregister()
	all := marker.All()
	if !slices.IsSortedFunc(all, func(a, b marker.Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted by name")
	}
	names := map[string]int{}
	for _, i := range all {
		names[i.Name]++
	}
	for _, name := range []string{"test:silent", "byname:one", "byname:all", "http:request_start"} {
		if names[name] != 1 {
			t.Errorf("%s is listed %d times", name, names[name])
		}
	}
	if names["byname:twin"] != 2 {
		t.Errorf("twins are listed %d times", names["byname:twin"])
	}
	i := all[slices.IndexFunc(all, func(i marker.Info) bool { return i.Name == "byname:one" })]
	if !slices.Equal(i.Probes, []string{"github.com/waymark-trace/waymark/marker_test.probeOfAll"}) || len(i.Fields) != 3 || i.Fields[1].Type != "int" {
		t.Errorf("%+v", i)
	}
}

func probeOfAll(string, int, bool) {}

package marker_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

// A type of every kind with a String method.
type (
	boolean bool
	weekday int
	tiny    int8
	small   uint16
	rune32  int32
	wide    int64
	big     uint64
	address uintptr
	half    float32
	celsius float64
	label   string
	octets  []byte
)

func (b boolean) String() string { return "is " + strconv.FormatBool(bool(b)) }
func (d weekday) String() string { return "day " + strconv.Itoa(int(d)) }
func (t tiny) String() string    { return "tiny " + strconv.Itoa(int(t)) }
func (s small) String() string   { return "small " + strconv.Itoa(int(s)) }
func (r rune32) String() string  { return "rune " + strconv.Itoa(int(r)) }
func (w wide) String() string    { return "wide " + strconv.FormatInt(int64(w), 10) }
func (b big) String() string     { return "big " + strconv.FormatUint(uint64(b), 10) }
func (a address) String() string { return "at " + strconv.FormatUint(uint64(a), 16) }
func (h half) String() string    { return "half " + strconv.FormatFloat(float64(h), 'g', -1, 32) }
func (c celsius) String() string { return strconv.FormatFloat(float64(c), 'f', 1, 64) + " °C" }
func (l label) String() string   { return "<" + string(l) + ">" }
func (o octets) String() string  { return fmt.Sprintf("%d:%x:%d", len(o), []byte(o), cap(o)-len(o)) }

// difficult is a type with a String method that panics, nests or is otherwise wrong.
type difficult int

func (d difficult) String() string {
	switch d {
	case panicsInString:
		panic(errors.New("no text"))
	case exitsInString:
		runtime.Goexit()
	case marksItself:
		difficulties.Mark(marker.TextOf(panicsInString))
	case isEmpty:
		return ""
	case grows:
		return strconv.Itoa(growStack(1000))
	}
	return "difficult " + strconv.Itoa(int(d))
}

const (
	easy difficult = iota
	panicsInString
	exitsInString
	marksItself
	isEmpty
	grows
)

// A variable, because its initialization would refer to itself.
var difficulties *marker.Marker1[marker.Text[difficult]]

var (
	difficultText = marker.New1[marker.Text[difficult]]("text:difficult", "what %s")
	numbers       = marker.New8[marker.Text[boolean], marker.Text[weekday], marker.Text[tiny], marker.Text[small], marker.Text[rune32], marker.Text[wide], marker.Text[big], marker.Text[address]](
		"text:numbers", "%s %v %q %s %s %s %s %s")
	others  = marker.New6[int32, marker.Text[half], marker.Text[celsius], marker.Text[label], marker.Text[octets], string]("text:others", "%d %s %s %s %s %s")
	passOn  = marker.New2[marker.Text[weekday], int]("text:pass_on", "day %s n %d")
	passed2 = marker.New1[marker.Text[weekday]]("text:passed_on", "day %v")
	strung  = marker.New2[string, string]("text:none", "a %s b %s")
)

func init() { difficulties = &difficultText }

func TestTextOfEveryKind(t *testing.T) {
	var named, typed []string
	for _, m := range []*marker.Marker{&numbers.Marker, &others.Marker} {
		p, err := marker.Register(m.Name(), "", func(e *marker.Event) {
			named = append(named, e.String())
			for i := range e.Len() {
				if v := e.Arg(i); v.Kind() == reflect.String && v.Any() != v.Text() || v.Kind() != reflect.String && i != 0 {
					t.Errorf("argument %d is %v, of kind %v", i, v.Any(), v.Kind())
				}
			}
		}, nil)
		must(t, err)
		defer p.Unregister()
		must(t, m.Arm())
		defer m.Disarm()
	}
	p, err := numbers.Register(func(a marker.Text[boolean], b marker.Text[weekday], c marker.Text[tiny], d marker.Text[small], e marker.Text[rune32], f marker.Text[wide], g marker.Text[big], h marker.Text[address]) {
		typed = append(typed, fmt.Sprint(a, b, c, d, e, f, g, h))
	})
	must(t, err)
	defer p.Unregister()
	q, err := others.Register(func(a int32, b marker.Text[half], c marker.Text[celsius], d marker.Text[label], e marker.Text[octets], f string) {
		typed = append(typed, fmt.Sprint(a, " ", b, c, d, e, f))
	})
	must(t, err)
	defer q.Unregister()
	mark := func(n int64, s string) {
		numbers.Mark(marker.TextOf(boolean(n&1 != 0)), marker.TextOf(weekday(n)), marker.TextOf(tiny(n)), marker.TextOf(small(n)),
			marker.TextOf(rune32(n)), marker.TextOf(wide(n)), marker.TextOf(big(n)), marker.TextOf(address(n)))
		//waymark:ignore it is armed
		others.Mark(int32(n), marker.TextOf(half(n)), marker.TextOf(celsius(n)), marker.TextOf(label(s)), marker.TextOf(octets(s)), s)
	}
	mark(7, "xy")
	mark(-1, "")
	bits := strconv.Itoa(32 << (^uint(0) >> 63))
	all := map[string]string{"32": "ffffffff", "64": "ffffffffffffffff"}[bits]
	want := []string{
		`is true day 7 "tiny 7" small 7 rune 7 wide 7 big 7 at 7`, `7 half 7 7.0 °C <xy> 2:7879:0 xy`,
		`is true day -1 "tiny -1" small 65535 rune -1 wide -1 big 18446744073709551615 at ` + all, `-1 half -1 -1.0 °C <> 0::0 `,
	}
	if !reflect.DeepEqual(named, want) {
		t.Errorf("by name\n%q\nwant\n%q", named, want)
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], `"`, "")
	}
	unspaced := func(list []string) string { return strings.ReplaceAll(strings.Join(list, "\n"), " ", "") }
	if unspaced(typed) != unspaced(want) {
		t.Errorf("typed\n%q\nwant\n%q", typed, want)
	}
	if s := numbers.Info().Fields[1].Type; s != "marker.Text[github.com/waymark-trace/waymark/marker_test.weekday]" {
		t.Errorf("type %s", s)
	}
}

// A Text can be read anywhere: it need not have been a marker's.
func TestTextOutsideOfProbes(t *testing.T) {
	for _, test := range []struct {
		text fmt.Stringer
		want string
	}{
		{marker.TextOf(weekday(3)), "day 3"},
		{marker.TextOf(celsius(-2.5)), "-2.5 °C"},
		{marker.TextOf(label("")), "<>"},
		{marker.TextOf(label("l")), "<l>"},
		{marker.TextOf(octets(nil)), "0::0"},
		{marker.TextOf(octets{1, 2}), "2:0102:0"},
		{marker.Text[weekday]{}, "day 0"},
		{marker.Text[label]{}, "<>"},
	} {
		if s := test.text.String(); s != test.want {
			t.Errorf("%T %q, want %q", test.text, s, test.want)
		}
	}
}

// A faulty String method spoils its own value, and nothing else.
func TestTextOfDifficultTypes(t *testing.T) {
	before := difficulties.Info()
	var got []string
	p, err := difficulties.Register(func(d marker.Text[difficult]) { got = append(got, "typed "+d.String()) })
	must(t, err)
	defer p.Unregister()
	q, err := marker.Register("text:difficult", "", func(e *marker.Event) { got = append(got, "named "+e.Arg(0).Text()) }, nil)
	must(t, err)
	defer q.Unregister()
	must(t, difficulties.Arm())
	defer difficulties.Disarm()
	for d := range grows + 1 {
		var wg sync.WaitGroup
		wg.Go(func() { difficulties.Mark(marker.TextOf(d)) })
		wg.Wait()
	}
	want := []string{
		"typed difficult 0", "named difficult 0",
		"typed %!v(PANIC=String method: no text)", "named %!v(PANIC=String method: no text)",
		// Goexit ends the goroutine, as anywhere.
		"typed %!v(NESTED=String method)", "named %!v(NESTED=String method)", // by its String method,
		"typed difficult 3", "named difficult 3", // before itself
		"typed ", "named ",
		"typed 1001", "named 1001",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if i := difficulties.Info(); i.Hits-before.Hits != 6 || i.Nested != before.Nested || i.Panics != before.Panics {
		t.Errorf("%+v, before it %+v", i, before)
	}
}

// A probe may mark another marker with the Text that it got.
func TestTextPassedOn(t *testing.T) {
	var got string
	p, err := passOn.Register(func(d marker.Text[weekday], n int) { passed2.Mark(d) })
	must(t, err)
	defer p.Unregister()
	q, err := marker.Register("text:passed_on", "", func(e *marker.Event) { got = e.String() }, nil)
	must(t, err)
	defer q.Unregister()
	for _, m := range []*marker.Marker{&passOn.Marker, &passed2.Marker} {
		must(t, m.Arm())
		defer m.Disarm()
	}
	passOn.Mark(marker.TextOf(weekday(5)), 1)
	if got != "day day 5" {
		t.Errorf("passed on: %q", got)
	}
}

// While a marker is off, no String method runs and nothing is allocated. While it is on, only the
// String method allocates.
func TestTextAllocates(t *testing.T) {
	calls = 0
	mark := func() {
		silentText.Mark(marker.TextOf(quietText(1)), marker.TextOf(silentLabel("a text of its own")), 3)
	}
	if a := testing.AllocsPerRun(1000, mark); a != 0 || calls != 0 {
		t.Errorf("off: %v allocations, %d calls", a, calls)
	}
	p, err := marker.Register("text:silent", "", func(e *marker.Event) {
		if e.Arg(0).Text() != "silent" || e.Arg(1).Text() != "a text of its own" {
			t.Errorf("event %q", e)
		}
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, silentText.Arm())
	defer silentText.Disarm()
	if a := testing.AllocsPerRun(1000, mark); a != 0 || calls != 1001 {
		t.Errorf("on: %v allocations, %d calls", a, calls)
	}
	p.Unregister()
	if a := testing.AllocsPerRun(1000, func() { strung.Mark("x", "y") }); a != 0 {
		t.Errorf("strings: %v allocations", a)
	}
}

type (
	quietText   int32
	silentLabel string
)

var (
	calls      int
	silentText = marker.New3[marker.Text[quietText], marker.Text[silentLabel], int]("text:silent", "a %s b %s c %d")
)

func (quietText) String() string {
	calls++
	return "silent"
}

func (l silentLabel) String() string { return string(l) }

// Texts are made on many goroutines at once, of one marker, while stacks move.
func TestTextOnManyGoroutines(t *testing.T) {
	var wrong sync.Map
	p, err := marker.Register("text:pass_on", "", func(e *marker.Event) {
		text := e.Arg(0).Text()
		growStack(int(e.Arg(1).Int()) % 200)
		runtime.GC()
		if want := "day " + strconv.Itoa(int(e.Arg(1).Int())); text != want || e.Arg(0).Text() != want {
			wrong.Store(want, text)
		}
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, passOn.Arm())
	defer passOn.Disarm()
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 16 {
				passOn.Mark(marker.TextOf(weekday(100*g+i)), 100*g+i)
			}
		})
	}
	wg.Wait()
	wrong.Range(func(want, got any) bool {
		t.Errorf("%q, want %q", got, want)
		return true
	})
}

// A type of one's own made of a Text has no String method to call.
type ownText marker.Text[weekday]

var ownTexts = marker.New1[ownText]("text:own", "own %s")

func TestTextWithoutString(t *testing.T) {
	var problems []error
	marker.OnProblem(func(err error) { problems = append(problems, err) })
	defer marker.OnProblem(nil)
	if _, err := ownTexts.Register(func(ownText) {}); err == nil || len(problems) != 1 {
		t.Errorf("error %v, problems %v", err, problems)
	}
}

package sink_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
)

var (
	opened = marker.New1[int]("sinktest:opened", "n %d")
	closed = marker.New1[int]("sinktest:closed", "n %d")
	wrong  = marker.New1[int]("sinktest:wrong", "n %") //waymark:ignore a wrong one, for the test
	plain  = marker.New0("sinktest_plain", "")
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		patterns string
		want     string
	}{
		{"sinktest:opened", "sinktest:opened"},
		{"sinktest:*", "sinktest:closed sinktest:opened"},
		{"sink*:?losed", "sinktest:closed"},
		{"opened", "sinktest:opened"},
		{"sinktest:[a-c]* opened sinktest:*", "sinktest:closed sinktest:opened"},
		{"sinktest_*", "sinktest_plain"},
		{"later:one sinktest:opened", "later:one sinktest:opened"},
	} {
		got, err := sink.Match(strings.Fields(c.patterns)...)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.patterns, got, err, c.want)
		}
	}
	if all, err := sink.Match("*:*"); err != nil || slices.Contains(all, "sinktest_plain") {
		t.Errorf("*:*: got %v, %v, want none without a provider", all, err)
	}
	if _, err := sink.Match("sinktest:[a"); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a malformed pattern: got %v, want path.ErrBadPattern", err)
	}
	if _, err := sink.Match("nowhere:*"); !errors.Is(err, sink.ErrNoMatch) {
		t.Errorf("a glob without a match: got %v, want ErrNoMatch", err)
	}
	if _, err := sink.Match(wrong.Name()[:len("sinktest:")+2] + "*"); err == nil || errors.Is(err, sink.ErrNoMatch) {
		t.Errorf("a glob for a wrong declaration: got %v, want what is wrong with it", err)
	}
}

// connected returns the markers of the test that have probes or are armed.
func connected() (names []string) {
	for _, m := range marker.All() {
		if strings.HasPrefix(m.Name, "sinktest") && (m.Armed != 0 || len(m.Probes) > 0) {
			names = append(names, m.Name)
		}
	}
	return names
}

func TestConnectAndClose(t *testing.T) {
	var got []string
	c, err := sink.Connect(func(e *marker.Event) { got = append(got, e.Name()+" "+e.String()) }, "sinktest:*")
	if err != nil {
		t.Fatal(err)
	}
	opened.Mark(1)
	closed.Mark(2)
	plain.Mark()
	if want := []string{"sinktest:opened n 1", "sinktest:closed n 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if names := c.Names(); !slices.Equal(names, connected()) || len(names) != 2 {
		t.Errorf("names are %v, connected %v", names, connected())
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	opened.Mark(3)
	if len(got) != 2 || len(connected()) != 0 {
		t.Errorf("after Close: got %q, connected %v", got, connected())
	}
	if err := c.Add("sinktest:opened", func(*marker.Event) {}, nil); err == nil || len(connected()) != 0 {
		t.Errorf("adding to what is closed: %v, connected %v", err, connected())
	}
	if err := c.Arm(); err == nil {
		t.Error("arming what is closed: no error")
	}
}

func TestConnectAllOrNone(t *testing.T) {
	for _, patterns := range [][]string{{}, {"sinktest:opened", "sinktest:wrong"}, {"sinktest:opened", "no-name"}, {"sinktest:opened", "nowhere:*"}} {
		c, err := sink.Connect(func(*marker.Event) {}, patterns...)
		if err == nil || c != nil || len(connected()) != 0 {
			t.Errorf("%q: got %v, %v, connected %v, want an error and none", patterns, c, err, connected())
		}
	}
	if _, err := sink.Connect(nil, "sinktest:opened"); err == nil || len(connected()) != 0 {
		t.Errorf("a nil function: got %v, connected %v", err, connected())
	}
}

var lateNames atomic.Int64

func TestMarkersThatAppearLater(t *testing.T) {
	var n atomic.Int64
	name := fmt.Sprintf("sinklater:n%d", lateNames.Add(1)) // one that this process has never had
	c, err := sink.Connect(func(*marker.Event) { n.Add(1) }, name, "sinktest:opened")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Pending(); !slices.Equal(got, []string{name}) {
		t.Errorf("waiting for %v, want %s", got, name)
	}
	later := marker.New0(name, "")      //waymark:ignore made late, on purpose
	p, err := later.Register(func() {}) // at first use it is known
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	later.Mark()
	if got := c.Pending(); len(got) != 0 || n.Load() != 1 {
		t.Errorf("waiting for %v, %d events, want none and 1", got, n.Load())
	}
}

// After Close returned, no probe runs, however many goroutines mark.
func TestCloseIsTheEnd(t *testing.T) {
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := 0; !over.Load(); i++ {
				opened.Mark(i)
			}
		})
	}
	defer wg.Wait()
	defer over.Store(true)
	for range 20 {
		var ended atomic.Bool
		var n atomic.Int64
		c, err := sink.Connect(func(*marker.Event) {
			n.Add(1)
			if ended.Load() {
				t.Error("a probe runs after Close")
			}
		}, "sinktest:*")
		if err != nil {
			t.Fatal(err)
		}
		for n.Load() == 0 {
			time.Sleep(time.Microsecond)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		ended.Store(true)
	}
}

func TestCloseInsideAProbe(t *testing.T) {
	inside, outside := make(chan bool), make(chan bool)
	var c *sink.Connection
	c, err := sink.Connect(func(*marker.Event) {
		close(inside)
		<-outside // Close, on the other goroutine, has begun
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}, "sinktest:opened")
	if err != nil {
		t.Fatal(err)
	}
	go opened.Mark(1)
	<-inside
	time.AfterFunc(10*time.Millisecond, func() { close(outside) })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestPairCheck(t *testing.T) {
	for p, sound := range map[sink.Pair]bool{
		{Begin: "a:b", End: "a:c"}:            true,
		{Begin: "a:b", End: "a:c", Key: "id"}: true,
		{Begin: "a:b", End: "a:b"}:            false,
		{Begin: "a:b"}:                        false,
		{End: "a:b"}:                          false,

		{Begin: "sinktest:opened", End: "sinktest:closed", Key: "n"}: true,
		{Begin: "sinktest:opened", End: "sinktest:closed", Key: "m"}: false,
		{Begin: "sinktest_plain", End: "sinktest:closed", Key: "n"}:  false,

		{Begin: "sinktest:opened", End: "disk:stored", Key: "n", EndKey: "bytes"}: true,
		{Begin: "sinktest:opened", End: "disk:stored", Key: "n", EndKey: "n"}:     false,
		{Begin: "sinktest:opened", End: "disk:stored", EndKey: "bytes"}:           false,
	} {
		if err := p.Check(); (err == nil) != sound {
			t.Errorf("%v: got %v", p, err)
		}
	}
}

package tracepoint_test

import (
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
)

// Cache and Entry are the program's own.
type (
	Cache struct{ name string }
	Entry struct {
		Key string
		Age time.Duration
	}
)

var cacheEvict = tracepoint.New2[*Cache, *Entry]("cache:evict", "cache", "entry")

// The arguments of the examples.
var (
	users = &Cache{"users"}
	ann   = &Entry{"ann", 1500 * time.Millisecond}
)

// A probe gets the program's own values, and the compiler checks its types. Registering arms.
func Example() {
	cacheEvict.Trace(users, ann)
	probe, err := cacheEvict.Register(func(c *Cache, e *Entry) {
		fmt.Println(c.name, "evicts", e.Key, "after", e.Age)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cacheEvict.Trace(users, ann)
	probe.Unregister()
	cacheEvict.Trace(users, ann)
	// Output: users evicts ann after 1.5s
}

var evicted = marker.New2[string, int64]("cache:evicted", "key %s age_ms %d")

// A probe that turns the arguments into basic types and marks, for every tracer.
func Example_marker() {
	probe, err := cacheEvict.Register(func(c *Cache, e *Entry) { evicted.Mark(e.Key, e.Age.Milliseconds()) }) //waymark:ignore a method that is inlined
	if err != nil {
		fmt.Println(err)
		return
	}
	defer probe.Unregister()

	// In place of a tracer:
	sink, err := marker.Register("cache:evicted", "", func(e *marker.Event) { fmt.Println(e.Name(), e) }, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sink.Unregister()
	_ = marker.Arm("cache:evicted")
	cacheEvict.Trace(users, ann)
	_ = marker.Disarm("cache:evicted")
	// Output: cache:evicted key ann age_ms 1500
}

// An argument that is computed only while the tracepoint is enabled.
func ExampleTracepoint_Enabled() {
	if cacheEvict.Enabled() {
		cacheEvict.Trace(users, &Entry{Key: "made for the probes"})
	}
	fmt.Println(cacheEvict.Enabled())
	// Output: false
}

// A probe may disconnect itself: it runs once.
func ExampleProbe_Unregister() {
	var probe *tracepoint.Probe
	probe, err := cacheEvict.Register(func(c *Cache, e *Entry) {
		fmt.Println("first", e.Key)
		probe.Unregister()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cacheEvict.Trace(users, ann)
	cacheEvict.Trace(users, ann)
	// Output: first ann
}

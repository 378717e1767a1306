package sink_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
)

var (
	stored  = marker.New2[string, int]("disk:stored", "key %s bytes %d")
	deleted = marker.New1[string]("disk:deleted", "key %s")
)

func ExampleConnect() {
	c, err := sink.Connect(func(e *marker.Event) { fmt.Println(e.Name(), e) }, "disk:*")
	if err != nil {
		fmt.Println(err)
		return
	}
	stored.Mark("a", 512)
	deleted.Mark("a")
	if err := c.Close(); err != nil {
		fmt.Println(err)
	}
	stored.Mark("b", 512)
	// Output:
	// disk:stored key a bytes 512
	// disk:deleted key a
}

// A sink that keeps something for each marker gives it to Add, and has it at hand in each event.
func ExampleConnection_Add() {
	var c sink.Connection
	names, err := sink.Match("disk:*")
	if err != nil {
		fmt.Println(err)
		return
	}
	count := make([]int, len(names))
	for i, name := range names {
		if err := c.Add(name, func(e *marker.Event) { *e.Data().(*int)++ }, &count[i]); err != nil {
			fmt.Println(err)
		}
	}
	if err := c.Arm(); err != nil {
		fmt.Println(err)
	}
	stored.Mark("a", 512)
	stored.Mark("b", 100)
	if err := c.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(names, count)
	// Output: [disk:deleted disk:stored] [0 2]
}

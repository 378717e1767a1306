package marker_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
)

var requestStart = marker.New2[string, int]("http:request_start", "path %s attempt %d")

func Example() {
	probe, err := requestStart.Register(func(path string, attempt int) {
		fmt.Println("request for", path, "attempt", attempt)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	requestStart.Mark("/nobody-looks", 1)
	if err := requestStart.Arm(); err != nil {
		fmt.Println(err)
	}
	requestStart.Mark("/x", 2)
	if err := requestStart.Disarm(); err != nil {
		fmt.Println(err)
	}
	probe.Unregister()
	// Output: request for /x attempt 2
}

func ExampleMarker_Enabled() {
	expensive := func() string { return "computed only while somebody looks" }
	if requestStart.Enabled() {
		requestStart.Mark(expensive(), 1)
	}
	fmt.Println(requestStart.Enabled())
	// Output: false
}

package marker_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
)

var requestStart = marker.New2[string, int]("http:request_start", "path %s attempt %d")

// try keeps the examples short; a program handles the error.
func try[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A probe of the marker's own types. Nothing is called before the marker is armed.
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

// An argument that is computed only while the marker is armed.
func ExampleMarker_Enabled() {
	expensive := func() string { return "computed only while somebody looks" }
	if requestStart.Enabled() {
		requestStart.Mark(expensive(), 1)
	}
	fmt.Println(requestStart.Enabled())
	// Output: false
}

// A probe by name, with the marker's format. The last argument is its own.
func ExampleRegister() {
	probe, err := marker.Register("http:request_start", "path %s attempt %d", func(e *marker.Event) {
		fmt.Println(e.Data(), e.Arg(0).Text(), e.Arg(1).Int())
	}, "seen:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer probe.Unregister()
	if err := marker.Arm("http:request_start"); err != nil {
		fmt.Println(err)
	}
	requestStart.Mark("/x", 2)
	if err := marker.Disarm("http:request_start"); err != nil {
		fmt.Println(err)
	}
	// Output: seen: /x 2
}

// One probe for markers of any format: it reads the fields.
func ExampleRegister_anyFormat() {
	probe := try(marker.Register("http:request_start", "", func(e *marker.Event) {
		fmt.Print(e.Name())
		for i, f := range e.Fields() {
			fmt.Printf(" %s(%s)=%v", f.Name, f.Type, e.Arg(i).Any())
		}
		fmt.Println()
	}, nil))
	defer probe.Unregister()
	_ = marker.Arm("http:request_start")
	requestStart.Mark("/x", 2)
	_ = marker.Disarm("http:request_start")
	// Output: http:request_start path(string)=/x attempt(int)=2
}

// A format that is not the marker's is an error, not a probe that misreads its arguments.
func ExampleRegister_wrongFormat() {
	_, err := marker.Register("http:request_start", "path %s", func(*marker.Event) {}, nil) //waymark:ignore what is shown
	fmt.Println(err)
	// Output: registering a probe: marker "http:request_start" has format "path %s attempt %d", the probe "path %s": the formats differ
}

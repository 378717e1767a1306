package event_test

import (
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// request is an event as a source yields it: one hit of a point, with a value for each field.
func request() *event.Event {
	return &event.Event{
		Point: &event.Point{Provider: "http", Name: "request_end", Fields: []event.Field{
			{Name: "path", Type: "string", Kind: event.String},
			{Name: "status", Type: "int", Kind: event.Int},
			{Name: "took", Type: "time.Duration", Kind: event.Duration},
			{Name: "user", Type: "int", Kind: event.Int},
		}},
		Time: 3 * time.Second, PID: 42, TID: 43, Goroutine: 18,
		Values: []event.Value{
			event.Text(event.String, []byte("/x"), 2),
			event.Number(event.Int, 200),
			event.Number(event.Duration, uint64(3520*time.Microsecond)),
			event.Missing(event.OptimizedOut),
		},
	}
}

// An event's values by name, as values of Go.
func ExampleEvent_Value() {
	e := request()
	if path, ok := e.Value("path"); ok {
		fmt.Println(path.Text(), path.Len())
	}
	if took, ok := e.Value("took"); ok {
		fmt.Println(time.Duration(took.Int()))
	}
	if user, ok := e.Value("user"); ok {
		fmt.Println(user.Err())
	}
	_, ok := e.Value("bytes")
	fmt.Println(ok)
	// Output:
	// /x 2
	// 3.52ms
	// optimized out
	// false
}

// All values of any event, by kind.
func ExampleValue_Kind() {
	e := request()
	for i, f := range e.Point.Fields {
		v := &e.Values[i]
		switch k := v.Kind(); {
		case v.Err() != nil:
			fmt.Println(f.Name, "has no value:", v.Err())
		case k == event.Duration:
			fmt.Println(f.Name, time.Duration(v.Int()))
		case k.Signed():
			fmt.Println(f.Name, v.Int())
		case k.IsInteger():
			fmt.Println(f.Name, v.Uint())
		case k.IsFloat():
			fmt.Println(f.Name, v.Float())
		case k == event.Bool:
			fmt.Println(f.Name, v.Bool())
		case k == event.String:
			fmt.Println(f.Name, v.Text())
		}
	}
	// Output:
	// path /x
	// status 200
	// took 3.52ms
	// user has no value: optimized out
}

// A line of text and one of JSON, both safe to print on a terminal.
func ExampleField_AppendText() {
	e := request()
	text := []byte(e.Point.FullName())
	json := []byte("{")
	for i, f := range e.Point.Fields {
		text = append(append(append(text, ' '), f.Name...), '=')
		text = f.AppendText(text, &e.Values[i])
		if i > 0 {
			json = append(json, ',')
		}
		json = append(event.AppendJSONString(json, f.Name), ':')
		json = f.AppendJSON(json, &e.Values[i])
	}
	fmt.Printf("%s\n%s}\n", text, json)
	// Output:
	// http:request_end path="/x" status=200 took=3.52ms user=<optimized out>
	// {"path":"/x","status":200,"took":3520000,"user":null}
}

// The verbs of a marker's format name its fields.
func ExampleCheck() {
	verbs, err := event.Check("path %s attempt %d", []event.Kind{event.String, event.Int})
	for _, v := range verbs {
		fmt.Println(v.Name, v.Text)
	}
	fmt.Println(err)
	_, err = event.Check("path %d", []event.Kind{event.String})
	fmt.Println(err)
	// Output:
	// path %s
	// attempt %d
	// <nil>
	// format "path %d": %d cannot print field path, which is string; try %s
}

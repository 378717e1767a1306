package introspect_test

import (
	"fmt"
	"net/http"

	"github.com/waymark-trace/waymark/introspect"
	"github.com/waymark-trace/waymark/marker"
)

var sent = marker.New1[int]("introspect:sent", "bytes %d")

func ExampleAll() {
	probe, err := sent.Register(func(bytes int) {})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer probe.Unregister()
	points, err := introspect.All()
	if err != nil {
		fmt.Println("declarations are not known:", err)
	}
	for _, p := range points {
		if p.Name == "introspect:sent" {
			fmt.Println(p.Kind, p.Name, p.Fields[0].Name, p.Fields[0].Type, "probes", len(p.Probes), "armed", p.Armed)
		}
	}
	// Output: marker introspect:sent bytes int probes 1 armed 0
}

func ExampleHandler() {
	http.Handle("/debug/points", introspect.Handler())
	// curl localhost:8080/debug/points
	// curl localhost:8080/debug/points?format=json
}

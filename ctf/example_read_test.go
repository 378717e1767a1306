package ctf_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/waymark-trace/waymark/ctf"
)

// The events that a trace can have, with the types of their fields, before any event is read.
func ExampleOpen() {
	tmp, err := os.MkdirTemp("", "trace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "trace")
	if err := writeExample(dir); err != nil {
		log.Fatal(err)
	}

	trace, err := ctf.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, stream := range trace.Classes {
		for _, class := range stream.Events {
			fmt.Println(class.Name)
			for _, f := range class.Payload.Fields {
				switch t := f.Type.(type) {
				case *ctf.Integer:
					fmt.Printf("  %s: %d bits, signed %t\n", f.Name, t.Size, t.Signed)
				case *ctf.String:
					fmt.Printf("  %s: text\n", f.Name)
				}
			}
		}
	}
	// Output:
	// http:request
	//   attempt: 32 bits, signed true
	//   path: text
}

// Command start imports a library and ends: what the start benchmark measures. The library
// is replaced by others with more markers.
package main

import (
	"os"

	"github.com/waymark-trace/waymark/bench/start/library"
)

func main() {
	if len(os.Args) > 1 {
		library.Pass(len(os.Args)) // so that the markers stay in the program
	}
}

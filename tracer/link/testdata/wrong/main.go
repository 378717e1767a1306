// Command wrong declares markers that link must refuse, each with its reason.
package main

import "github.com/waymark-trace/waymark/marker"

var (
	verb  = marker.New1[int]("wrong:verb", "n %s")
	count = marker.New2[int, int]("wrong:count", "n %d")
)

func main() {
	verb.Mark(1)
	count.Mark(1, 2)
}

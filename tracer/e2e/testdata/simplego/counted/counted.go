// Package counted stands in for package simple and counts how often each marker is passed:
// what the hits at its places have to come to.
package counted

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

var (
	mu     sync.Mutex
	counts = map[string]int{}
)

func count(name string) {
	mu.Lock()
	defer mu.Unlock()
	counts[name]++
	if name == "x:exit" {
		for _, n := range slices.Sorted(maps.Keys(counts)) {
			fmt.Println(n, counts[n])
		}
	}
}

func Mark0(name, format string)                               { count(name) }
func Mark1(name, format string, a any)                        { count(name) }
func Mark2(name, format string, a, b any)                     { count(name) }
func Mark3(name, format string, a, b, c any)                  { count(name) }
func Anchor0(name, format string)                             { count(name) }
func Anchor1(name, format string, a any)                      { count(name) }
func Anchor2(name, format string, a, b any)                   { count(name) }
func Anchor3(name, format string, a, b, c any)                { count(name) }
func Anchor8(name, format string, a, b, c, d, e, f, g, h any) { count(name) }

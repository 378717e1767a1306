// Package byname finds markers by their names.
package byname

import (
	"github.com/waymark-trace/waymark/marker"
	_ "github.com/waymark-trace/waymark/vet/testdata/namedep"
)

var hit = marker.New1[int]("byname:hit", "n %d")

var bare = marker.New1[int]("bare", "n %d")

func probe(*marker.Event) {}

func find(name string) {
	marker.Register("byname:hit", "n %d", probe, nil)
	marker.Register("byname:hit", "", probe, nil)
	marker.Register("byname:hit", "n %x", probe, nil)  // want `marker "byname:hit": format "n %x" is not the declared one: "n %d" in .*/byname \(byname.go:9\)`
	marker.Register("name:shared", "n %s", probe, nil) // want `marker "name:shared": format "n %s" is not the declared one: "n %d" in .*/namedep \(namedep.go:7\)`
	marker.Register("bare", "n %s", probe, nil)        // want `marker "bare": format "n %s" is not the declared one: "n %d" in .*/byname`
	marker.Register("byname:bare", "n %s", probe, nil) // names are found as they are declared
	marker.Register("else:where", "n %s", probe, nil)
	marker.Register("else:where", "n %y", probe, nil) // want `format "n %y", byte 2: .* is not one of`
	marker.Register("by-name:hit", "", probe, nil)    // want `marker.Register: provider "by-name" has "-" at byte 2`
	marker.Register(name, name, probe, nil)
	marker.Arm("byname:hit")
	marker.Arm("byname hit")  // want `marker.Arm: name "byname hit" has " "`
	marker.Disarm("byname::") // want `marker.Disarm: name ":" has`
}

// Package name has names that are invalid or taken.
package name

import (
	"github.com/waymark-trace/waymark/marker"
	_ "github.com/waymark-trace/waymark/vet/testdata/namedep"
	_ "github.com/waymark-trace/waymark/vet/testdata/namedep2" // want `marker "name:meets" in .*/namedep2 \(namedep2.go:6\) is declared twice: also in .*/namedep \(namedep.go:9\); tools take the two for one`
)

const provider = "name"

var (
	fine      = marker.New0(provider+":fine", "")
	empty     = marker.New0("", "")               // want `name is empty`
	noName    = marker.New0("name:", "")          // want `name is empty`
	dash      = marker.New0("na-me:x", "")        // want `marker "na-me:x": provider "na-me" has "-" at byte 2`
	colons    = marker.New0("name:a:b", "")       // want `letters, digits and _ are allowed`
	bare      = marker.New0("bare", "")           // its provider is the package
	barefaced = marker.New0("name:bare", "")      // want `marker "name:bare" is declared twice: also in .*testdata/name \(name.go:18\); tools take the two for one`
	again     = marker.New0("name:fine", "done")  // want `"name:fine" is declared twice: with format "" in .*/name \(name.go:13\)`
	shared    = marker.New0("name:shared", "")    // want `"name:shared" is declared twice: with format "n %d" in .*/namedep \(namedep.go:7\)`
	different = marker.New0("name:different", "") //waymark:ignore the other one is for the old protocol
	_         = marker.New0("name:blank", "")
)

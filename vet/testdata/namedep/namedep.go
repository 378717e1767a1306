// Package namedep declares what package name declares again.
package namedep

import "github.com/waymark-trace/waymark/marker"

var (
	Shared    = marker.New1[int]("name:shared", "n %d")
	Different = marker.New1[int]("name:different", "n %d")
	meets     = marker.New0("name:meets", "")
)

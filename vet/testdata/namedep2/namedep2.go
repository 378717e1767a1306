// Package namedep2 declares what package namedep declares too.
package namedep2

import "github.com/waymark-trace/waymark/marker"

var meets = marker.New0("name:meets", "")

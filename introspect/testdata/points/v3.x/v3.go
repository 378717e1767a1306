// Package v3 has a dot in its import path, which symbols escape.
package v3

import "github.com/waymark-trace/waymark/marker"

// Start is a marker.
var Start = marker.New1[int]("dotted:start", "n %d")

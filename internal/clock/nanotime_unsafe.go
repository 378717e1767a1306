package clock

import _ "unsafe" // for go:linkname

// nanotime reads the monotonic clock. The runtime keeps it for other packages: see its own comment,
// and golang.org/issue/67401.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

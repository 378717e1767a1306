package recorder

import _ "unsafe" // for go:linkname

// procPin keeps the goroutine on its P, which nobody else uses until procUnpin, and returns the number
// of the P. The runtime keeps both for other packages: see its own comments, and golang.org/issue/67401.
//
//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

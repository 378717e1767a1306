//go:build !linux || !amd64

package stub

import "unsafe"

// Supported reports whether this build has stubs, so that waymark link can give markers an address.
const Supported = false

// Sites returns nothing: no file of this platform is ever optimized.
func Sites() (offset, size uint64, at uintptr) { return 0, 0, 0 }

// Call does nothing: no file of this platform is ever linked.
func Call(uintptr, unsafe.Pointer) {}

//go:build !linux || !amd64

package stub

import "unsafe"

// Supported reports whether this build has stubs, so that waymark link can give markers an address.
const Supported = false

// Call does nothing: no file of this platform is ever linked.
func Call(uintptr, unsafe.Pointer) {}

// Package statickey declares branches that are switched at run time and cost next to nothing
// in between: the Linux kernel's static keys for Go.
//
//	var verbose = statickey.New("app:verbose")
//	…
//	if verbose.Enabled() {
//		log.Print(everything())
//	}
//
// # Declaring
//
// A key is a package-level variable made by [New], which is off, or by [NewOn], which is on. It
// must not be copied; go vet reports copies. Its name is provider:name, as a marker's. It serves
// [All] and [Find], with which a program can let its users switch keys; several keys may have the
// same name. waymark vet reports wrong names, which have no other effect.
//
// # Cost
//
// Enabled is a load, a test and a branch, inlined, half a nanosecond or less, on or off; the guarded
// code costs nothing while the key is off. Unlike a variable of type bool, a key may be switched
// while other goroutines read it, it nests, and it has a name. In a program that went through
// waymark link --optimize the code itself is patched, as the kernel's is, and Enabled reads no
// memory. A key takes 40 bytes of data, and some hundred more once it was enabled.
//
// # Switching
//
// [Key.Enable] and [Key.Disable] nest: a key that was enabled twice is on until it was disabled
// twice, so independent users of a key do not disturb each other. [NewOn] counts as once.
// At most 65535 can be outstanding, after which Enable returns [ErrTooOften]; Disable of a key that
// is off returns [ErrNotEnabled] and changes nothing.
//
// Any goroutine may switch any key. In the terms of the Go memory model, Enable, Disable and
// Enabled are atomic operations on one word: an Enabled that happens after Enable returned sees it,
// and if Enabled reports true because of an Enable, code before that Enable happens before the
// guarded code. Neither waits: code that has passed the branch goes on after Disable returned.
package statickey

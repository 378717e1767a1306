// Package statickey declares branches that are switched at run time and cost next to nothing
// meanwhile: the Linux kernel's static keys for Go.
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
// must not be copied; go vet says so. Its name is provider:name, as a marker's. It serves [All] and
// [Find], with which a program can let its users switch keys; several keys may have one name. A
// wrong name is what waymark vet finds; it changes nothing else.
//
// # Cost
//
// Enabled is a load, a test and a branch, inlined, half a nanosecond or less, on or off; what it
// guards costs nothing while it is off. What distinguishes it from a variable of type bool is that
// it may be switched while others look, that it nests, and that it has a name. In a program that went
// through waymark link --optimize the code itself is patched, as the kernel's is, and Enabled reads no
// memory. A key takes 40 bytes of data, and some hundred more once it was
// enabled.
//
// # Switching
//
// [Key.Enable] and [Key.Disable] nest: who switches a key on for themselves switches it off for
// themselves. One that was enabled twice is on until it was disabled twice; [NewOn] counts as once.
// At most 65535 can be outstanding, after which Enable returns [ErrTooOften]; Disable of a key that
// is off returns [ErrNotEnabled] and changes nothing.
//
// Any goroutine may switch any key. In the terms of the Go memory model, Enable, Disable and
// Enabled are atomic operations on one word: an Enabled that happens after Enable returned sees it,
// and if Enabled reports true because of an Enable, what came before that Enable comes before what
// is guarded. Neither waits: code that is behind the branch already goes on when Disable returns.
package statickey

// Package statickey declares branches that are switched at run time and cost next to nothing
// meanwhile: the Linux kernel's static keys for Go.
//
//	var verbose = statickey.New("app:verbose")
//	…
//	if verbose.Enabled() {
//		log.Print(everything())
//	}
//
// Any code may switch a key, on any goroutine; enabling nests. A site that begins after
// Enable returned sees it. A key is a package-level variable and must not be copied.
package statickey

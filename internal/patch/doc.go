// Package patch keeps the sites of an optimized program, one that went through
// "waymark link --optimize", as their armed words say. docs/patching.md is the protocol.
package patch

import "errors"

// ErrText is the error of patching a program whose text cannot be written.
var ErrText = errors.New("the program's code cannot be patched here (a seccomp filter, SELinux or proc_mem.force_override refuses); link it without --optimize")

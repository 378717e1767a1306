// Package time has the name of the standard library's package, and is another one.
package time

// Duration is none of nanoseconds.
type Duration int64

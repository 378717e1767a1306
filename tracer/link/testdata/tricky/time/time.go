// Package time has the same name as the standard library's package.
package time

// Duration is not a number of nanoseconds.
type Duration int64

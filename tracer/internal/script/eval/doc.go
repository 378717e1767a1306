// Package eval executes checked programs in Go, on the events of any source. It is the reference for the other engines.
package eval

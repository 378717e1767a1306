package ctf

import "fmt"

// Error is an error in a trace, with its position.
type Error struct {
	File   string
	Offset int64 // bytes
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: byte %d: %v", e.File, e.Offset, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Package patch switches the sites of an optimized program, one that went through
// "waymark link --optimize", to match their armed words. docs/patching.md is the protocol.
package patch

import "errors"

// ErrNotPatched is wrapped by every error of this package.
var ErrNotPatched = errors.New("the sites of this program, linked with --optimize, cannot be patched")

// failure is such an error.
type failure struct {
	why string
	err error // nil for none
}

func (f *failure) Error() string {
	s := ErrNotPatched.Error() + ": " + f.why
	if f.err != nil {
		s += ": " + f.err.Error()
	}
	return s
}

func (f *failure) Unwrap() []error {
	if f.err == nil {
		return []error{ErrNotPatched}
	}
	return []error{ErrNotPatched, f.err}
}

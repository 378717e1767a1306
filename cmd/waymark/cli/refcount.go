package cli

import "fmt"

// refcount is the value of the hidden --refcount: who raises reference counters. Kernels
// before 4.20 leave it to us; elsewhere "user" is for tests.
type refcount bool

func (r *refcount) Type() string { return "WHO" }

func (r *refcount) String() string {
	if *r {
		return "user"
	}
	return "kernel"
}

func (r *refcount) Set(text string) error {
	switch text {
	case "user":
		*r = true
	case "kernel":
		*r = false
	default:
		return fmt.Errorf("it is user or kernel")
	}
	return nil
}

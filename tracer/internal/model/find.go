package model

import "context"

// Process is a running process and its markers.
type Process struct {
	PID     int
	OwnPID  int // in its own PID namespace, when that is below the one of this process; else 0
	Comm    string
	Markers []*Marker // shared by the processes that map the same file
	// Err says why the process could not be looked at, or not all of it.
	Err error
}

// FindAll returns every running process that has markers, or that could not be looked at,
// in order of PID. Kernel threads are left out, and processes that end meanwhile are no
// error. Each file is read once however many processes map it.
func FindAll(ctx context.Context) ([]Process, error) { return findAll(ctx) }

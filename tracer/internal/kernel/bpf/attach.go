package bpf

import (
	"fmt"
	"os"
	"slices"
)

// Site is one place to attach to.
type Site struct {
	Offset  uint64 // of the probed instruction in the file
	Counter uint64 // file offset of the reference counter, 0 for none
	// Index is what comes back: the counter to raise, or the site of an event. Each time that
	// something is added it begins anew, and what comes back counts on.
	Index uint32
	// Plan is what an event carries; counting needs none.
	Plan *Plan
	// Key is what hits are told apart by, where they are.
	Key Key
	// End says of a latency's site that it ends what others begin.
	End bool
	// Where says which hits count, nil for all.
	Where *Where
}

// File is an executable or library and the sites in it.
type File struct {
	// Opened stays so until everything is attached: the kernel then has the inode.
	Opened *os.File
	Sites  []Site
	// Linker are where a dynamic linker passes when it has mapped something, for Watch.
	Linker []uint64
}

// hasSites reports whether there is a site in the files.
func hasSites(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool { return len(f.Sites) > 0 })
}

// Options are how to attach.
type Options struct {
	// Watch follows processes, nil for none. It has to be closed after what is attached.
	Watch      *Watch
	Mode       Mode
	MaxString  int  // bytes of a string that events carry
	BufferSize int  // bytes of the ring
	OwnPIDs    bool // that events have, where the kernel describes its types
	Unguarded  bool // this process holds the links, for tests
}

// Mode is a way of attaching. Users leave it to Auto; tests force the others.
type Mode uint8

const (
	// Auto is the first of the following that the kernel supports.
	Auto Mode = iota
	// Multi is one link for all sites of a file that share a program (Linux 6.6).
	Multi
	// Events is one perf event for each site, with cookies (Linux 5.15).
	Events
	// EventsPlain is one perf event and one program for each site.
	EventsPlain
)

var modeNames = [...]string{"auto", "multi", "events", "events-plain"}

func (m Mode) String() string { return modeNames[m] }

// AttachError names the site that could not be attached to.
type AttachError struct {
	File int // index in the files given, -1 when it is not known which
	Site int // index in the file's sites, -1 when it is not known which, or none of these
	PID  int // of those given, 0 when it is not one process's fault
	Err  error
}

func (e *AttachError) Error() string {
	if e.File < 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("file %d, site %d: %v", e.File, e.Site, e.Err)
}

func (e *AttachError) Unwrap() error { return e.Err }

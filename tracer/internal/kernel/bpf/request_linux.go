package bpf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// request says what to attach where. It comes with descriptors: those of the files, then those
// of the programs.
type request struct {
	Mode    Mode
	PIDs    []int // none for every process
	Files   int   // how many of the descriptors are files
	Batches []batch
	// Watch are raw tracepoints, instead of all that: then the descriptors are those of a
	// program for each. "" is a program that knows itself where it belongs.
	Watch []string
	// Detach is a process whose links are closed, instead of all that. 0 is none.
	Detach int
	// Stop is a thread that is stopped, and Release one that goes on, instead of all that. 0 is none.
	Stop    *stopRequest
	Release int
}

// batch is the sites of one file that share a program.
type batch struct {
	File, Program int // indices among the descriptors of their kind
	Sites         []spot
}

// spot is what attaching to one site takes.
type spot struct{ Offset, Counter, Cookie uint64 }

// decodeRequest reads a request that came with some descriptors.
func decodeRequest(b []byte, descriptors int) (*request, error) {
	r := &request{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if r.Detach != 0 || r.Stop != nil || r.Release != 0 {
		if descriptors != 0 || r.Detach < 0 || r.Release < 0 || r.Stop != nil && (r.Stop.Process <= 0 || r.Stop.Thread <= 0) {
			return nil, fmt.Errorf("request to detach from process %d, stop %v, release %d, with %d descriptors", r.Detach, r.Stop, r.Release, descriptors)
		}
		return r, nil
	}
	if len(r.Watch) > 0 {
		if r.Files != 0 || len(r.Batches) > 0 || descriptors != len(r.Watch) {
			return nil, fmt.Errorf("request for %d tracepoints with %d descriptors", len(r.Watch), descriptors)
		}
		return r, nil
	}
	if r.Mode == Auto || int(r.Mode) >= len(modeNames) {
		return nil, fmt.Errorf("request for mode %d", r.Mode)
	}
	if r.Files < 0 || r.Files > descriptors {
		return nil, fmt.Errorf("request for %d files of %d descriptors", r.Files, descriptors)
	}
	for _, pid := range r.PIDs {
		if pid <= 0 { // 0 would be every process
			return nil, fmt.Errorf("request for process %d", pid)
		}
	}
	for i := range r.Batches {
		b := &r.Batches[i]
		if b.File < 0 || b.File >= r.Files || b.Program < 0 || b.Program >= descriptors-r.Files || len(b.Sites) == 0 {
			return nil, fmt.Errorf("batch %d: %d sites of file %d, program %d", i, len(b.Sites), b.File, b.Program)
		}
	}
	return r, nil
}

// answer is how a request was met.
type answer struct {
	refused *refusal  // nil: it was met,
	skipped []refusal // but for these sites
}

// refusal is why a request was not met: where, as far as that is known, and what was said.
type refusal struct {
	batch, site int // -1 when it is not known
	pid         int // 0 when it is not one process's fault
	err         error
}

// reply is a refusal on its way between processes.
type reply struct {
	Batch, Site, PID int
	Text             string
	// What errors.Is has to find again on the other side.
	Errno        unix.Errno
	NotSupported bool
}

func (r *refusal) asError() error {
	if r == nil {
		return nil
	}
	return r.err
}

// replies are an answer on its way.
type replies struct {
	Refused *reply
	Skipped []*reply
}

func (r *refusal) reply() *reply {
	if r == nil {
		return nil
	}
	a := &reply{Batch: r.batch, Site: r.site, PID: r.pid, Text: r.err.Error(), NotSupported: errors.Is(r.err, ErrNotSupported)}
	if !errors.As(r.err, &a.Errno) && errors.Is(r.err, fs.ErrNotExist) {
		a.Errno = unix.ENOENT // the library says so of a process that has ended
	}
	return a
}

func (a *reply) refusal() *refusal {
	if a == nil {
		return nil
	}
	return &refusal{a.Batch, a.Site, a.PID, a}
}

func (a *answer) encode() []byte {
	all := replies{Refused: a.refused.reply()}
	for i := range a.skipped {
		all.Skipped = append(all.Skipped, a.skipped[i].reply())
	}
	b, _ := json.Marshal(all) // numbers and strings: there is no error
	return b
}

func decodeAnswer(b []byte) *answer {
	var all replies
	if err := json.Unmarshal(b, &all); err != nil {
		return &answer{refused: &refusal{-1, -1, 0, fmt.Errorf("reply of the guard: %w", err)}}
	}
	a := &answer{refused: all.Refused.refusal()}
	for _, r := range all.Skipped {
		if s := r.refusal(); s != nil {
			a.skipped = append(a.skipped, *s)
		}
	}
	return a
}

func (a *reply) Error() string { return a.Text }

func (a *reply) Unwrap() (is []error) {
	if a.Errno != 0 {
		is = append(is, a.Errno)
	}
	if a.NotSupported {
		is = append(is, ErrNotSupported)
	}
	return is
}

// Package script runs programs over markers: scripts in a strict subset of bpftrace's language, on the events of any source, such
// as a recorded trace.
//
// docs/script.md is the tutorial and the reference of the language, docs/script-machine.md defines what programs compute, and
// docs/from-bpftrace.md lists the differences from bpftrace.
package script

import (
	"errors"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/check"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// Manual is the version of bpftrace's manual that the language follows.
const Manual = "bpftrace e1b7c39 (0.26.1 and later), docs/language.md and docs/stdlib.md"

// Error is a mistake in a script, or a remark about it: its position, what it is, and a hint.
type Error = syntax.Error

// Script is a parsed script.
type Script struct{ tree *syntax.Script }

// Parse parses a script. The name stands in messages. The error is an *Error.
func Parse(name, text string) (*Script, error) {
	tree, err := syntax.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return &Script{tree}, nil
}

// Target describes where a script is going to run.
type Target struct {
	// Points are the points that probes can match, such as Reader.Points of a recording.
	Points []*event.Point
	// Has reports whether the events of a point have a pid, tid, comm, cpu or goroutine, such as Reader.Has of a recording. Nil
	// means that they have all of them.
	Has func(p *event.Point, name string) bool
	// Args are the script's parameters: $1 and so on, and --name=value for getopt.
	Args []string
	// Unsafe permits the script to run commands.
	Unsafe bool
}

// Check gives the script its types and binds its probes to the points of a target. Without a target, probes match anything and
// fields have any type; such a program cannot run. The errors are several *Error, joined.
func (s *Script) Check(t *Target) (*Program, error) {
	c := &check.Target{Open: t == nil}
	if t != nil {
		c.Points, c.Has, c.Args, c.Unsafe = t.Points, t.Has, t.Args, t.Unsafe
	}
	p, warnings, err := check.Check(s.tree, c)
	if err != nil {
		return nil, err
	}
	return &Program{ir: p, file: s.tree.File, Warnings: warnings}, nil
}

// Program is a checked script.
type Program struct {
	// Warnings are remarks about the script.
	Warnings []*Error

	ir   *ir.Program
	file *syntax.File
}

// Errors returns the mistakes that an error of Parse or Check consists of.
func Errors(err error) []*Error {
	var all []*Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			all = append(all, Errors(err)...)
		}
		return all
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		all = append(all, e)
	}
	return all
}

package tracer

import "github.com/waymark-trace/waymark/tracer/internal/model"

// Marker is one named marker of one file, with all its sites, or a tracepoint.
type Marker = model.Marker

// File is an executable or shared library that has markers.
type File = model.File

// Argument is the source of a field's value at the sites of a marker with operands.
type Argument = model.Argument

// CodeSite is a location in a linked Go program that tests whether a marker is armed.
type CodeSite = model.CodeSite

// Process is a running process and its markers.
type Process = model.Process

// Simple is what a marker without an instruction of its own has besides.
type Simple = model.Simple

// SimplePlace is one probe location of a simple marker.
type SimplePlace = model.SimplePlace

// SimpleVariable is a variable at one probe location.
type SimpleVariable = model.SimpleVariable

// The errors of this package and of those below it.
type (
	SiteError       = model.SiteError
	PermissionError = model.PermissionError
	NoMatchError    = model.NoMatchError
	NoFieldError    = model.NoFieldError
	WhereError      = model.WhereError
)

var (
	ErrNotSupported    = model.ErrNotSupported
	ErrNoProc          = model.ErrNoProc
	ErrNoTypes         = model.ErrNoTypes
	ErrNoProcess       = model.ErrNoProcess
	ErrChanged         = model.ErrChanged
	ErrCounterConflict = model.ErrCounterConflict
	ErrRedZone         = model.ErrRedZone
	ErrNoTracepoint    = model.ErrNoTracepoint
	ErrNoVariable      = model.ErrNoVariable
	ErrNotSimple       = model.ErrNotSimple
	ErrNoDebug         = model.ErrNoDebug
	ErrNoPlace         = model.ErrNoPlace
)

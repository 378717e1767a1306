package tracer

import "github.com/waymark-trace/waymark/tracer/internal/model"

// Marker is one named marker of one file, with all its sites, or a tracepoint. Markers are read-only
// and may be used by several goroutines.
type Marker = model.Marker

// File is an executable or shared library that has markers. Its Problems are those of its notes.
type File = model.File

// Argument is the source of a field's value at the sites of a marker with operands.
type Argument = model.Argument

// CodeSite is a location in a linked Go program that tests whether a marker is armed.
type CodeSite = model.CodeSite

// Process is a running process and its markers, as FindAll returns it.
type Process = model.Process

// Simple is what a marker without an instruction of its own has besides: its place in the source, its
// variables, and its probe locations.
type Simple = model.Simple

// SimplePlace is one probe location of a simple marker.
type SimplePlace = model.SimplePlace

// SimpleVariable is a variable at one probe location.
type SimpleVariable = model.SimpleVariable

// SiteError reports why a site was left out when its marker was attached to.
type SiteError = model.SiteError

// PermissionError reports which privilege is missing and how to get it.
type PermissionError = model.PermissionError

// NoMatchError reports that a pattern matches no marker, with the most similar names.
type NoMatchError = model.NoMatchError

// NoFieldError reports that no marker has a field of that name, with the names there are.
type NoFieldError = model.NoFieldError

// WhereError reports a mistake in a condition, and its column.
type WhereError = model.WhereError

var (
	// ErrNotSupported reports that this platform, kernel or engine cannot do what was asked.
	ErrNotSupported = model.ErrNotSupported
	// ErrNoProc reports that there is no /proc, without which nothing can be attached to.
	ErrNoProc = model.ErrNoProc
	// ErrNoTypes reports that the kernel lacks BTF, which only following processes needs.
	ErrNoTypes = model.ErrNoTypes
	// ErrNoProcess reports that there is no such process, or no longer.
	ErrNoProcess = model.ErrNoProcess
	// ErrChanged reports that a file or a process is not the one that Find saw.
	ErrChanged = model.ErrChanged
	// ErrCounterConflict reports that another tracer has the very site under another reference
	// counter, or that two notes name one site with two counters: the kernel allows one.
	ErrCounterConflict = model.ErrCounterConflict
	// ErrRedZone reports that this kernel may overwrite variables of the program at the site.
	ErrRedZone = model.ErrRedZone
	// ErrTyped reports that Attach.Strings was given for markers whose strings are known without it.
	ErrTyped = model.ErrTyped
	// ErrNoVariable reports that no variable has the name where it is asked for.
	ErrNoVariable = model.ErrNoVariable
	// ErrNotSimple reports that variables were asked for of markers that have fields instead.
	ErrNotSimple = model.ErrNotSimple
	// ErrNoDebug reports that neither the file nor a separate debug file has debugging information.
	ErrNoDebug = model.ErrNoDebug
	// ErrNoPlace reports that no instruction stands for a simple marker.
	ErrNoPlace = model.ErrNoPlace
)

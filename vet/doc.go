// Package vet finds, before a program runs, the mistakes that markers, tracepoints and keys
// leave room for: analyzers for go vet, gopls and every other driver of go/analysis.
//
//	markformat  a format that does not fit the types of the arguments
//	markname    a provider:name that is invalid, or taken; a probe for another format
//	markdecl    a marker that is not a package-level variable, or is copied
//	markcost    an argument that costs something while its marker is not armed; with the fix
//	markescape  an argument that makes a local variable escape to the heap
//	marksimple  a simple marker that leaves code behind, or that no tool can read
//
// Package event defines the valid names and formats, for link and the running program too.
// docs/vet.md shows each finding with its remedy. A finding is accepted with a comment on its
// line, or alone on the line before it, with the reason:
//
//	//waymark:ignore REASON
//
// The analyzers share one walk over a package, the index, and do nothing in packages that
// cannot know a marker.
package vet

import "golang.org/x/tools/go/analysis"

// Analyzers returns all of them.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{Format, Name, Decl, Cost, Escape, Simple}
}

// page is where an analyzer's findings are explained.
func page(analyzer string) string {
	return "https://github.com/waymark-trace/waymark/blob/main/docs/vet.md#" + analyzer
}

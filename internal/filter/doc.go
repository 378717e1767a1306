// Package filter is the language of --where: conditions over what an event carries, such as
// arg1 > 4096 && comm == "postgres". docs/filters.md describes it to users.
//
// Parse reads a condition, Bind resolves its names for the fields of one marker and checks the
// types, and Eval decides it in Go. The tracer's engine compiles the bound tree to eBPF instead;
// nothing here knows of that. Both mean the same: integers compare as numbers, whatever their
// width and sign, and a comparison with a value that could not be read is false.
package filter

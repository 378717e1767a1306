// Package event defines events: one hit of one named point in a program, with typed values.
//
// Every source of events yields the same type: the kernel engine, the agent in a program, and a
// trace on disk. A [Point] is a named location, provider:name, with one [Field] for each argument.
// An [Event] is one hit of a point, with one [Value] for each field. A value has a [Kind]: one of
// the basic kinds of Go, or time.Duration.
//
// The package also has the table of kinds and of the format verbs that print them. Package marker
// checks formats with it at first use, waymark vet at compile time and waymark link at link time.
// All packages share the conversions defined here, from argument bytes to values, text and JSON.
//
// Package marker imports this package, so it uses little of the standard library: not context, fmt
// or encoding/json.
package event

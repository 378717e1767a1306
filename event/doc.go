// Package event defines events: one hit of one named point in a program, with typed values.
//
// Every source of events yields the same type: the kernel engine, the agent in a program, and a
// trace on disk. A [Point] names what was hit, provider:name, and describes its arguments, a
// [Field] each. An [Event] is one hit with one [Value] for each of the fields. What a value can be
// is its [Kind]: the basic kinds of Go, time.Duration among them.
//
// The package is also the one table of kinds and of the verbs of a format that print them:
// package marker checks it at first use, waymark vet at compile time and waymark link at link
// time. Decoding of argument bytes, text and JSON are written here once.
//
// It needs little of the standard library, because package marker imports it: neither context
// nor fmt nor encoding/json.
package event

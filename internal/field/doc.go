// Package field defines what a marker's argument can be: its kind, its name, and the
// format string that names it. It is the one table that the marker package checks at
// first use, waymark vet at compile time and waymark link at link time, and it imports
// the standard library only because marker does.
package field

// Package check gives every expression of a parsed script its type, binds its probes to the points of a target, and returns the
// program that engines execute. A script that it accepts cannot fail while it runs, except for resources.
package check

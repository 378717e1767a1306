// Package join finds the begin that belongs to an end: it keeps what sinks know of begins until
// their ends come, by goroutine or by an argument, in bounded memory.
package join

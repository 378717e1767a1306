// Package join pairs begins with ends, by goroutine or by an argument: it keeps the data of begins
// until their ends, in bounded memory.
package join

// Package problem is where the packages that programs import report what they cannot return
// as an error: it would concern code that only marks.
package problem

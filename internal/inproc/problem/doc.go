// Package problem reports the problems of packages that programs import, if they cannot be returned
// as errors because they occur in calls of Mark.
package problem

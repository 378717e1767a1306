// Package archtest holds the tests of the architecture as a whole: which package may import
// which, where unsafe may be, how long a file may grow, and that everything builds for every
// platform. docs/architecture.md says why.
package archtest

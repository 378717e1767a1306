// Package e2e tests waymark against the tools that its markers promise to work with, and on
// real programs: nearly every test attaches to running processes. It holds tests only, most of
// which need root and the tools that scripts/bootstrap installs.
package e2e

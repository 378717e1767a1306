// Package ir defines the checked program that every engine executes: typed expressions and statements over integers of up to 64
// bits, bounded texts, tuples, maps and aggregations. docs/script-machine.md defines what they mean.
package ir

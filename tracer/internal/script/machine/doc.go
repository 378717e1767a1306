// Package machine is what all engines share of docs/script-machine.md: values, maps, aggregations, formats and output.
package machine

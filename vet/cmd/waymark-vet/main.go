// Waymark-vet checks the use of markers for the go command, which runs it package by package
// and caches the results:
//
//	go vet -vettool=$(which waymark-vet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/waymark-trace/waymark/vet"
)

func main() { multichecker.Main(vet.Analyzers()...) }

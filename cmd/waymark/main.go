// Waymark shows what the markers of running programs report.
package main

import (
	"context"
	"os"

	"github.com/waymark-trace/waymark/cmd/waymark/cli"
	"github.com/waymark-trace/waymark/tracer"
)

func main() {
	tracer.GuardMain()
	env := &cli.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(cli.Main(context.Background(), os.Args[1:], env))
}

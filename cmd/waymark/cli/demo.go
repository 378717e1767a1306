package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

const demoLong = `Shows what waymark does, on a real web server, in a few seconds.

It builds the example server, links it so that every tracer sees its markers, lists them,
runs the server under a load of its own on the loopback interface, counts the markers' hits
while it runs, and shows how long requests took, from pairs of markers joined by goroutine.
It ends by itself. Where the kernel's tracing is not permitted, the agent inside the server does
the looking instead, and it says so.`

const (
	modulePath  = "github.com/waymark-trace/waymark"
	demoProgram = modulePath + "/examples/httpserver"
)

// demoLoad is a load of some four seconds.
var demoLoad = []string{"-load", "8000", "-clients", "8", "-pause", "2ms"}

func newDemoCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Show what waymark does, on a real web server",
		Long:    demoLong,
		Example: "  go run ./cmd/waymark demo        in a clone of waymark",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return env.demo(cmd.Context()) },
	}
}

func (e *Env) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "waymark-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server := filepath.Join(dir, "server")

	e.step("go build -o server ./examples/httpserver", "a web server with five markers")
	if err := e.buildDemo(ctx, server); err != nil {
		return err
	}
	report, linkErr := link.File(server, "", link.Options{})
	if linkErr == nil {
		e.step("waymark link server", "gives every marker an address and an SDT note")
		report.Warnings = nil // of the example's code, about which its user can do nothing
		if err := e.printReport(e.Stdout, report, server, false); err != nil {
			return err
		}
		if err := e.demoList(ctx, server); err != nil {
			return err
		}
	} else if !errors.Is(linkErr, link.ErrNotELF) {
		return linkErr
	}
	err = e.demoEngine(ctx, server, tracer.EngineKernel)
	var denied *tracer.PermissionError
	if errors.As(err, &denied) || errors.Is(err, tracer.ErrNotSupported) {
		e.message("the kernel engine cannot be used here: %v", err)
		if denied != nil && denied.Hint != "" {
			e.hint("%s", denied.Hint)
		}
		e.message("the agent inside the server looks instead")
		err = e.demoEngine(ctx, server, tracer.EngineAgent)
	}
	if errors.Is(err, tracer.ErrNotSupported) {
		e.message("agents are on Linux: probes inside the server look instead")
		return e.demoInProcess(ctx, server)
	}
	return err
}

// step shows the command that a user would type.
func (e *Env) step(command, what string) {
	st := styleFor(e.Stdout)
	fmt.Fprintf(e.Stdout, "\n%s  %s\n", st.bold("$ "+command), st.dim("# "+what))
}

// buildDemo builds the example from the module that the current directory is in.
func (e *Env) buildDemo(ctx context.Context, out string) error {
	done := e.progress("building the example server, which the first time takes a while")
	defer done()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, demoProgram)
	text, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return withHint(errors.New("the demo builds its example, and there is no go command"), "install Go from https://go.dev/dl")
	case err != nil:
		return withHint(fmt.Errorf("building the example server: %w\n%s", err, bytes.TrimSpace(text)),
			"run the demo in a clone of waymark, or in a module that requires %s", modulePath)
	}
	return nil
}

func (e *Env) demoList(ctx context.Context, server string) error {
	markers, err := tracer.Find(ctx, tracer.Path(server))
	if err != nil {
		if errors.Is(err, tracer.ErrNotSupported) {
			return nil
		}
		return err
	}
	e.step("waymark list server", "perf list, bpftrace -l and gdb's info probes show them too")
	out, err := e.openOutput("", false)
	if err != nil {
		return err
	}
	width, _, _ := screenSize(out.to)
	err = (&listTable{out: out, style: styleFor(out.to), width: width}).print([]group{{markers: markers}})
	return errors.Join(err, out.Close())
}

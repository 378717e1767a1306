package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

const linkLong = `Make the markers of finished Go executables visible to every tracer.

link adds standard SDT notes to an executable that go build made, with the names and types
of fields that waymark shows. No byte of code moves; the program runs as before. Linking
again does nothing.

With --optimize, sites that can be proved to be nothing but a test of their armed word are
rewritten: off, they read no memory and execute a jump or a NOP; arming patches them in the
running program, one byte each (docs/patching.md). The program then looks every 100 ms
whether a kernel tracer wants a marker. Linking without --optimize puts the code back.

Simple markers are found in the sources that the program's debugging information names: in the module
cache, in the working directory's module, or where --source says. waymark list shows where
they are, and -v here why some have no place (docs/simple.md).

The file is replaced in one step and keeps its mode; a program that runs
keeps the file it was started from.`

const linkExample = `  waymark link server                     in place
  waymark link -o server.linked server    into another file
  waymark link -v bin/*                   with what was found
  waymark link --optimize -v server       and sites that read no memory`

func newLinkCommand(env *Env) *cobra.Command {
	var out string
	var verbose bool
	var options link.Options
	cmd := &cobra.Command{
		Use:     "link [-o OUT] FILE...",
		Short:   "Make the markers of Go executables visible to every tracer",
		Long:    linkLong,
		Example: linkExample,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("such as waymark link ./server", "link needs a FILE")
			}
			if out != "" && len(args) > 1 {
				return usage("link them one by one, or in place", "-o %s has room for one FILE, not %d", out, len(args))
			}
			return runLink(env, args, out, options, verbose)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `OUT` instead of in place")
	cmd.Flags().BoolVar(&options.Optimize, "optimize", false, "make sites read no memory while off, patched in the running program")
	cmd.Flags().BoolVar(&options.NoWatch, "no-watch", false, "with --optimize: do not look for kernel tracers every 100 ms")
	cmd.Flags().StringArrayVar(&options.Sources, "source", nil, "look for the sources of simple markers in `DIR` too")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show every marker and where it is marked")
	return cmd
}

// runLink links all files, also after one that could not be linked.
func runLink(env *Env, paths []string, out string, o link.Options, verbose bool) error {
	var first error
	for _, path := range paths {
		done := env.progress("linking %s", path)
		report, err := linkFile(path, out, o)
		done()
		if err == nil {
			err = env.printReport(env.Stdout, report, report.Path, verbose)
		}
		switch {
		case err == nil:
		case isBrokenPipe(err):
			return err
		case first == nil:
			first = explainLink(path, err)
		default:
			env.printError(explainLink(path, err))
		}
	}
	return first
}

// linkFile links a file with a collector that comes five times as often: the file is in memory twice, beside which
// a large program's debugging information leaves much that lives for a moment.
func linkFile(path, out string, o link.Options) (*link.Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	return link.File(path, out, o)
}

// printReport says what link did to the file that is called path.
func (e *Env) printReport(w io.Writer, r *link.Report, path string, verbose bool) error {
	for _, text := range r.Warnings {
		e.warning("%s: %s", path, text)
	}
	places := 0
	t := table{right: []bool{false, false, true}}
	t.add("MARKER", "FIELDS", "PLACES")
	for _, m := range r.Markers {
		places += len(m.Sites)
	}
	verb := "linked"
	if r.Unchanged {
		verb = "already linked"
	}
	what := fmt.Sprintf("%s, marked at %s%s", plural(len(r.Markers), "marker"), plural(places, "place"), optimizedText(r.Sites))
	if simple := simpleText(r.Simple); simple != "" && len(r.Markers) == 0 {
		what = simple
	} else if simple != "" {
		what += "; " + simple
	}
	_, err := fmt.Fprintf(w, "%s %s: %s\n", verb, label(filepath.Base(path)), what)
	if err != nil || !verbose {
		return err
	}
	for _, m := range r.Markers {
		t.add(label(m.Name), schemaFields(&m.Marker), fmt.Sprint(len(m.Sites)))
	}
	for i, line := range t.lines() {
		if len(r.Markers) == 0 {
			break
		}
		if i == 0 {
			line = styleFor(w).dim(line)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		for _, s := range r.Markers[i-1].Sites {
			if _, err := fmt.Fprintf(w, "    %s\n", codeText(tracer.CodeSite(s))); err != nil {
				return err
			}
		}
	}
	if err := printSites(w, r.Sites); err != nil {
		return err
	}
	return printSimple(w, r.Simple)
}

// optimizedText says how many of all sites, those of tracepoints and keys too, were rewritten.
func optimizedText(sites []link.SiteReport) string {
	if sites == nil {
		return ""
	}
	n := 0
	for _, s := range sites {
		if s.Optimized {
			n++
		}
	}
	return fmt.Sprintf("; %d of %s optimized", n, plural(len(sites), "place"))
}

// printSites says what became of every site.
func printSites(w io.Writer, sites []link.SiteReport) error {
	for _, s := range sites {
		what := "optimized"
		if !s.Optimized {
			what = "generic: " + s.Why
		}
		name := s.Name
		if s.Kind != "" {
			name = s.Kind + " " + label(s.Name)
		}
		if _, err := fmt.Fprintf(w, "%s in %s, %s:%d: %s\n", name, label(s.Function), s.File, s.Line, what); err != nil {
			return err
		}
	}
	return nil
}

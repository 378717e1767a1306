// Command bench measures what markers cost, off and on, beside the same code without them
// and under other tools:
//
//	go run ./bench [--list] [--json | --markdown] [--rounds N] [NAME…]
//	go run ./bench --page docs/performance.md
//
// What is compared runs interleaved, in rounds, and the median of the rounds counts: the
// machine's speed changes over time, and a ratio survives that where a figure does not.
// Figures are for reading beside each other, ratios for keeping.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

func main() {
	tracer.GuardMain()
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// benchmark is one question, answered by a group of results.
type benchmark struct {
	name string
	what string
	run  func(c config) ([]result, error)
}

type config struct {
	rounds int
	tiny   bool      // one round, as short as can be: for tests
	log    io.Writer // progress, for people
}

func (c config) roundsOr(n int) int {
	if c.rounds > 0 {
		return c.rounds
	}
	return n
}

func (c config) roundTime(d time.Duration) time.Duration {
	if c.tiny {
		return d / 50
	}
	return d
}

var benchmarks = []benchmark{
	{"disabled", "a marker nobody looks at, in an empty loop and in a loop that copies 4096 bytes", disabled},
	{"enabled", "a marker with probes in its own process, and what else says where a program is", enabled},
	{"uprobes", "one point under a probe in the process, under the kernel's, and LTTng-UST", uprobes},
	{"record", "recording an event, by CPU time of the program and of who takes it out of the rings", record},
	{"size", "what one marker adds to a program's file", sizes},
	{"code", "one function in memory: generic, optimized and off, optimized and on", code},
	{"macro", "a web server, a UDP ping flood and a batch job", macro},
	{"start", "a program that declares markers and is never traced", start},
	{"lost", "events that do not arrive, at rising rates, on an idle and on a busy CPU", lost},
	{"attach", "attaching to and detaching from all sites of libjvm and PostgreSQL", attaching},
	{"list", "the markers of every running process, and readelf on the same files", list},
	{"simple", "the simple markers of programs of 100 MB, and readelf and gdb on the same files", simple},
	{"tracers", "a marker of a linked program under waymark, perf and bpftrace", tracers},
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	show := flags.Bool("list", false, "list the benchmarks")
	asJSON := flags.Bool("json", false, "print one JSON object a line")
	asMarkdown := flags.Bool("markdown", false, "print tables for docs")
	page := flags.String("page", "", "run what docs/performance.md is made of, and write that `file`")
	rounds := flags.Int("rounds", 0, "rounds of each benchmark, 0 for its own number")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 0 {
		return errors.New("-rounds must not be negative")
	}
	c := config{rounds: *rounds, tiny: *rounds == 1, log: stderr}
	if *page != "" {
		return writePage(*page, c)
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	if *show {
		for _, b := range chosen {
			fmt.Fprintf(stdout, "%-10s %s\n", b.name, b.what)
		}
		return nil
	}
	print := printTable
	switch {
	case *asJSON:
		print = printJSON
	case *asMarkdown:
		print = printMarkdown
	default:
		fmt.Fprintf(stdout, "%s %s/%s, %d CPUs; medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	}
	for _, b := range chosen {
		results, err := b.run(c)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := print(stdout, b, results); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the benchmarks of the given names, all of them for none.
func choose(names []string) ([]benchmark, error) {
	if len(names) == 0 {
		return benchmarks, nil
	}
	var chosen []benchmark
	for _, name := range names {
		i := 0
		for i < len(benchmarks) && benchmarks[i].name != name {
			i++
		}
		if i == len(benchmarks) {
			var known []string
			for _, b := range benchmarks {
				known = append(known, b.name)
			}
			return nil, fmt.Errorf("no benchmark %q: there is %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, benchmarks[i])
	}
	return chosen, nil
}

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	startRounds   = 400
	instructedRun = 3 // instructions are counted one by one
	manyMarkers   = 1000
)

// starter is a program that is started and ends.
type starter struct {
	name    string
	library string // the text of its library
	path    string
	times   []float64 // processor time of each start
	faults  []float64

	instructions float64 // before main
	failed       error   // why they could not be counted
}

// start compares the starts of a program whose library has no markers with others.
func start(c config) ([]result, error) {
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	const marker = `import "github.com/waymark-trace/waymark/marker"`
	many := strconv.Itoa(manyMarkers)
	programs := []*starter{
		{name: "no markers", library: library("import _"+strings.TrimPrefix(marker, "import"), "", "passed = n")},
		{name: many + " markers", library: library(marker,
			`var m%[1]d = marker.New2[int, uintptr]("library:m%[1]d", "n %%d at %%p")`, "m%[1]d.Mark(n, 0)")},
		{name: many + " plain variables", library: library("import _"+strings.TrimPrefix(marker, "import")+plain,
			`var m%[1]d = alike{name: "library:m%[1]d", format: "n %%d at %%p"}`, "if m%[1]d.armed != 0 { passed = n }")},
		{name: "package marker not imported", library: library("", "", "passed = n")},
	}
	for i, p := range programs {
		if err := p.build(filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	for range c.roundsOr(startRounds) {
		for _, p := range programs {
			if err := p.run(); err != nil {
				return nil, err
			}
		}
	}
	return startResults(c, programs)
}

// startResults compares all programs with the first.
func startResults(c config, programs []*starter) ([]result, error) {
	var results []result
	compare := func(what, unit string, of func(p *starter) (float64, error)) error {
		base := what + ", " + programs[0].name
		var first float64
		for i, p := range programs {
			v, err := of(p)
			if errors.Is(err, errors.ErrUnsupported) {
				results = append(results, skipped(what, "%v", err))
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s of the program with %s: %w", what, p.name, err)
			}
			r := measured(what+", "+p.name, v, unit)
			if i == 0 {
				first = v
			} else if first > 0 {
				r.RatioTo, r.Ratio = base, round(v/first)
			}
			results = append(results, r)
		}
		return nil
	}
	countAll(c, programs)
	err := errors.Join(
		compare("instructions before main", "instructions", func(p *starter) (float64, error) { return p.instructions, p.failed }),
		compare("processor time", "ns", func(p *starter) (float64, error) { return median(p.times), nil }),
		compare("processor time, lower quartile", "ns", func(p *starter) (float64, error) {
			low, _ := quartiles(p.times)
			return low, nil
		}),
		compare("page faults", "faults", func(p *starter) (float64, error) { return median(p.faults), nil }),
		compare("packages with something to do at start", "inits", func(p *starter) (float64, error) {
			inits, _, err := p.inits()
			return inits, err
		}),
		compare("allocations of packages at start", "allocs", func(p *starter) (float64, error) {
			_, allocs, err := p.inits()
			return allocs, err
		}),
		compare("size of the file", "bytes", func(p *starter) (float64, error) {
			info, err := os.Stat(p.path)
			if err != nil {
				return 0, err
			}
			return float64(info.Size()), nil
		}))
	return results, err
}

// countAll counts the instructions of programs before main, on each CPU those of one program at a time.
func countAll(c config, programs []*starter) {
	var done sync.WaitGroup
	lanes := runtime.NumCPU()
	for lane := range lanes {
		done.Go(func() {
			for i := lane; i < len(programs); i += lanes {
				programs[i].count(c, lane)
			}
		})
	}
	done.Wait()
}

// count counts the program's instructions on a CPU.
func (p *starter) count(c config, cpu int) {
	p.instructions = math.Inf(1) // the runtime polls and yields more the busier the machine is: that only adds
	for range min(instructedRun, c.roundsOr(instructedRun)) {
		n, err := countInstructions(p.path, "main.main", cpu)
		if err != nil {
			p.failed = err
			return
		}
		p.instructions = min(p.instructions, float64(n))
	}
}

// plain declares what has a marker's members and is none: whatever the variables of a program
// are, the runtime reads at its start where in them the pointers are.
const plain = `
type alike struct {
	magic        [2]uint64
	armed        uint32
	version      uint16
	arity        uint8
	name, format string
	stub         int64
	state        *int
}
`

// library returns the text of a library with many functions, at which the runtime looks too
// when it starts, with or without a variable for each.
func library(head, declaration, body string) string {
	var b strings.Builder
	b.WriteString("package library\n\n" + head + "\n\nvar passed int\n\nfunc Pass(n int) {\n\tprintln(n)\n")
	for i := range manyMarkers {
		fmt.Fprintf(&b, "\tpass%d(n)\n", i)
	}
	b.WriteString("}\n")
	for i := range manyMarkers {
		if declaration != "" {
			fmt.Fprintf(&b, "\n"+declaration+"\n", i)
		}
		fmt.Fprintf(&b, "\n//go:noinline\nfunc pass%[1]d(n int) { "+body+" }\n", i)
	}
	return b.String()
}

// build builds the program with its library, in a directory of its own.
func (p *starter) build(dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	replaced, err := filepath.Abs("bench/start/library/library.go")
	if err != nil {
		return err
	}
	list, err := writeOverlay(dir, replaced, filepath.Join(dir, "library.go"), p.library)
	if err != nil {
		return err
	}
	p.path = filepath.Join(dir, "start")
	if err := command("go", "build", "-overlay", list, "-o", p.path, "./bench/start"); err != nil {
		return fmt.Errorf("the program with %s: %w", p.name, err)
	}
	return nil
}

// run starts the program once and notes what that took.
func (p *starter) run() error {
	cmd := exec.Command(p.path)
	cmd.Env = []string{"GOMAXPROCS=1"}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running the program with %s: %w", p.name, err)
	}
	p.times = append(p.times, float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Nanoseconds()))
	if n, ok := pageFaults(cmd.ProcessState); ok {
		p.faults = append(p.faults, n)
	}
	return nil
}

var initLine = regexp.MustCompile(`(?m)^init .* (\d+) allocs$`)

// inits returns how many packages the runtime initializes, other than by their layout in the
// file, and what they allocate: the least of some starts, because the runtime's own
// goroutines allocate meanwhile.
func (p *starter) inits() (inits, allocs float64, err error) {
	allocs = math.Inf(1)
	for range 10 {
		cmd := exec.Command(p.path)
		cmd.Env = []string{"GODEBUG=inittrace=1", "GOMAXPROCS=1"}
		text, err := cmd.CombinedOutput()
		if err != nil {
			return 0, 0, err
		}
		inits = 0
		var sum float64
		for _, m := range initLine.FindAllSubmatch(text, -1) {
			n, _ := strconv.ParseFloat(string(m[1]), 64)
			inits, sum = inits+1, sum+n
		}
		allocs = min(allocs, sum)
	}
	return inits, allocs, nil
}

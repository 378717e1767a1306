package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// rate is how fast the target passes its marker.
type rate struct {
	name   string
	passes int
	every  time.Duration // 0 for as fast as it can
}

// slower reports whether passes of so many nanoseconds do not reach a rate.
func (r *rate) slower(ns float64) bool {
	return r.every > 0 && float64(r.every.Nanoseconds()) < reached*ns
}

// rates are longer than the buffers, and short enough for people.
var rates = []rate{
	{"100 k/s", 200_000, 10 * time.Microsecond},
	{"250 k/s", 250_000, 4 * time.Microsecond},
	{"500 k/s", 500_000, 2 * time.Microsecond},
	{"1 M/s", 500_000, time.Microsecond},
	{"all it can", 1_000_000, 0},
}

// reached is the part of a rate that a tool must leave its target able to reach.
const reached = 0.9

// competitors are the processes that want a tool's CPU for themselves where the machine is busy.
const competitors = 4

// lost measures how many events do not arrive: each tool writes them as text into a file, at rising rates
// until the target comes no faster.
func lost(c config) ([]result, error) { return underTools(c, measureLost) }

func measureLost(c config, t *target, tools []*tool) (results []result, err error) {
	for _, tool := range tools { // perf record uses what perf stat has prepared
		if tool.failed = tool.prepare(); tool.failed == nil {
			defer tool.cleanUp()
		}
	}
	for _, busy := range []bool{false, true} {
		for _, tool := range tools {
			if tool.line == nil {
				continue
			}
			name := tool.name
			if busy {
				name += busySuffix
			}
			fmt.Fprintln(c.log, "lost:", name)
			got, err := tool.lose(c, t, busy)
			var broken *targetError
			if errors.As(err, &broken) {
				return nil, err
			}
			if err != nil {
				results = append(results, skipped(name, "%v", err))
				continue
			}
			results = append(results, got.results(name)...)
		}
	}
	return results, nil
}

// busySuffix is of what was measured while others wanted the tool's CPU, too.
const busySuffix = ", busy"

// arrivals is what of the target's events a tool has in its output.
type arrivals struct {
	rates    []rate
	ns       []float64 // what a pass took, by rate, up to the first that was not reached
	distinct []int     // passes that are in it, by rate
	surplus  int       // events of passes that were in it before
}

func (got *arrivals) results(name string) (all []result) {
	for i, ns := range got.ns {
		r := got.rates[i]
		at := name + ", " + r.name
		all = append(all, measured(at, float64(r.passes-got.distinct[i]), "lost"),
			further(at, "of", float64(r.passes), "events"), further(at, "passed", 1e9/ns, "events/s"))
	}
	if got.surplus > 0 { // perf does, now and then: its losses must not hide behind them
		all = append(all, measured(name+", events too many", float64(got.surplus), "events"))
	}
	return all
}

// lose has the target pass its marker at rising rates and returns what the tool saw of that.
func (tool *tool) lose(c config, t *target, busy bool) (got arrivals, err error) {
	if tool.failed != nil {
		return got, tool.failed
	}
	for _, r := range rates {
		if c.tiny {
			r.passes /= 100
		}
		got.rates = append(got.rates, r)
	}
	out, err := os.CreateTemp("", "waymark-bench")
	if err != nil {
		return got, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	err = tool.watching(t, out, func() error {
		if busy {
			defer compete()()
		}
		return got.pass(t)
	})
	if err != nil {
		return got, err
	}
	if tool.argv[0] != "perf" {
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return got, err
		}
		return got, got.read(out, tool.line)
	}
	// perf writes what it recorded into a file of its own.
	script := exec.Command("perf", "script", "-i", tool.argv[4], "-F", "event,trace")
	text, err := script.StdoutPipe()
	if err == nil {
		err = script.Start()
	}
	if err != nil {
		return got, err
	}
	return got, errors.Join(got.read(text, tool.line), script.Wait())
}

// compete starts what wants the tools' CPU, and returns what ends it.
func compete() func() {
	var all []*exec.Cmd
	for range competitors {
		if cmd := pinned(1, "sh", "-c", "while :; do :; done"); cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		for _, cmd := range all {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
}

// pass has the target pass its marker at rising rates until it comes no faster.
func (got *arrivals) pass(t *target) error {
	first := 0
	for _, r := range got.rates {
		ns, err := t.pass(fmt.Sprintf("pace %d %d %d", r.passes, r.every.Nanoseconds(), first), r.passes)
		if err != nil {
			return err
		}
		got.ns = append(got.ns, ns)
		if r.slower(ns) {
			break
		}
		time.Sleep(settling) // what is in the buffers is of this rate
		first += r.passes
	}
	time.Sleep(settling)
	return nil
}

// read reads a tool's output; every pass has a number.
func (got *arrivals) read(text io.Reader, line *format) error {
	var seen [][]bool
	for i := range got.ns {
		seen = append(seen, make([]bool, got.rates[i].passes))
	}
	got.distinct = make([]int, len(seen))
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		n, ok := line.number(lines.Bytes())
		if !ok {
			continue
		}
		i := 0
		for i < len(seen) && n >= len(seen[i]) {
			n -= len(seen[i])
			i++
		}
		if i == len(seen) || seen[i][n] {
			got.surplus++
			continue
		}
		seen[i][n] = true
		got.distinct[i]++
	}
	return lines.Err()
}

// format is what a tool has around the number of a pass on its line.
type format struct{ before, after string }

// number returns the number of a pass that a line is.
func (f *format) number(line []byte) (int, bool) {
	at := bytes.Index(line, []byte(f.before))
	if at < 0 {
		return 0, false
	}
	digits, rest, ok := strings.Cut(string(line[at+len(f.before):]), f.after)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && strings.Trim(rest, "x0} ") == ""
}

// lostTable is the share that was lost, a line for each tool.
func lostTable(all []result) string {
	var b strings.Builder
	b.WriteString("| lost |")
	for _, r := range rates {
		b.WriteString(" " + r.name + " |")
	}
	b.WriteString(" a hit costs |\n|---|" + strings.Repeat("--:|", len(rates)+1) + "\n")
	values := make(map[string]*float64)
	for _, r := range all {
		values[r.Case] = r.Value
	}
	for _, busy := range []string{"", busySuffix} {
		for _, t := range tools("", "waymark", &target{cmd: &exec.Cmd{Process: &os.Process{}}}) {
			if t.line != nil {
				b.WriteString(lostLine(t.name+busy, values))
			}
		}
	}
	return b.String()
}

func lostLine(name string, values map[string]*float64) string {
	line, cost := "| "+name+" |", "–"
	for _, r := range rates {
		at := name + ", " + r.name
		lost, of, passed := values[at], values[at+", of"], values[at+", passed"]
		if lost == nil || of == nil || passed == nil {
			line += " – |"
			continue
		}
		cell := "0"
		if *lost > 0 {
			cell = fmt.Sprintf("%.2g %%", 100**lost / *of)
		}
		if r.slower(1e9 / *passed) {
			cell += fmt.Sprintf(", at %.0f k/s", *passed/1e3)
		}
		line += " " + cell + " |"
		cost = fmt.Sprintf("%.0f ns", 1e9 / *passed)
	}
	return line + " " + cost + " |\n"
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer/link"
)

const macroRounds = 10

// worker is bench/jobs, built or linked in one way.
type worker struct {
	*target
	kind      string
	arm       bool   // while it works, an empty probe is connected to each marker
	http, udp string // addresses
	flooder   *target

	// Of each round, by job.
	rates map[string][]float64
	cpu   map[string][]float64 // nanoseconds of processor time for one request, packet or run
}

// job is one kind of work, whose rate is measured.
type job struct {
	name, unit string
	each       string // what processor time is counted for
	do         func(c config, w *worker) (rate float64, times int, err error)
}

var jobs = []job{
	{"web server under wrk", "requests/s", "request", loadHTTP},
	{"UDP ping flood", "packets/s", "packet", floodUDP},
	{"parsing and checking package fmt and its imports", "ns", "run", compileOnce},
}

// macro measures programs that do something: without markers, with generic and with optimized ones,
// and with a probe on all of them.
func macro(c config) ([]result, error) {
	if !canLink {
		return []result{skipped("all", "link is for linux/amd64")}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	workers, flooder, err := startWorkers(dir)
	defer func() {
		for _, w := range workers {
			w.stop()
		}
		if flooder != nil {
			flooder.stop()
		}
	}()
	if err != nil {
		return nil, err
	}
	failed := make(map[string]error)
	for round := range c.roundsOr(macroRounds) {
		fmt.Fprintf(c.log, "macro: round %d\n", round+1)
		for _, j := range jobs {
			for i := range workers {
				w := workers[(i+round)%len(workers)] // what comes first differs
				if failed[j.name] != nil {
					continue
				}
				err := w.measure(c, j)
				var broken *targetError
				if errors.As(err, &broken) {
					return nil, err
				}
				failed[j.name] = err
			}
		}
	}
	var all []result
	for _, j := range jobs {
		if err := failed[j.name]; err != nil {
			all = append(all, skipped(j.name, "%v", err))
			continue
		}
		base := workers[0]
		for _, w := range workers {
			r := spread(j.name+", "+w.kind, w.rates[j.name], j.unit)
			if w != base {
				r.RatioTo, r.Ratio = j.name+", "+base.kind, round(median(divide(w.rates[j.name], base.rates[j.name])))
			}
			all = append(all, r)
		}
		for _, w := range workers {
			r := spread(j.name+": processor time of a "+j.each+", "+w.kind, w.cpu[j.name], "ns")
			if w != base {
				r.RatioTo, r.Ratio = j.name+": processor time of a "+j.each+", "+base.kind, round(median(divide(w.cpu[j.name], base.cpu[j.name])))
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// startWorkers builds and starts all of them. What it returns is to be stopped, after an error too.
func startWorkers(dir string) (workers []*worker, flooder *target, err error) {
	plain, none := filepath.Join(dir, "jobs"), filepath.Join(dir, "jobs-none")
	if err := errors.Join(
		command("go", "build", "-tags", "nomarkers", "-o", none, "./bench/jobs"),
		command("go", "build", "-o", plain, "./bench/jobs")); err != nil {
		return nil, nil, err
	}
	flooder, err = startTarget(none, pinned(1, none))
	if err != nil {
		return nil, nil, err
	}
	for _, w := range []*worker{
		{kind: "no markers"},
		{kind: "generic"},
		{kind: "optimized"},
		{kind: "optimized, a probe on each", arm: true},
	} {
		path := none
		if w.kind != "no markers" {
			path = filepath.Join(dir, fmt.Sprintf("jobs%d", len(workers)))
			if _, err := link.File(plain, path, link.Options{Optimize: w.kind != "generic"}); err != nil {
				return workers, flooder, err
			}
		}
		w.flooder = flooder
		if w.target, err = startTarget(path, pinned(0, path)); err != nil {
			return workers, flooder, err
		}
		workers, w.rates, w.cpu = append(workers, w), make(map[string][]float64), make(map[string][]float64)
		if w.http, err = w.ask("http"); err != nil {
			return workers, flooder, err
		}
		if w.udp, err = w.ask("udp"); err != nil {
			return workers, flooder, err
		}
	}
	return workers, flooder, nil
}

// measure has the worker do a job, with probes if it is to have them, and checks that they were called.
func (w *worker) measure(c config, j job) (err error) {
	if w.arm {
		before, err := w.hits()
		if err == nil {
			err = w.do("arm")
		}
		if err != nil {
			return err
		}
		defer func() {
			e := w.do("disarm")
			after, e2 := w.hits()
			if e = errors.Join(e, e2); e == nil && err == nil && after == before {
				e = errors.New("no probe was called")
			}
			err = errors.Join(err, e)
		}()
	}
	before, err := w.processorTime()
	if err != nil {
		return err
	}
	rate, times, err := j.do(c, w)
	if err != nil {
		return err
	}
	after, err := w.processorTime()
	if err != nil {
		return err
	}
	w.rates[j.name] = append(w.rates[j.name], rate)
	w.cpu[j.name] = append(w.cpu[j.name], float64(after-before)/float64(times))
	return nil
}

// processorTime returns the nanoseconds that its threads have run.
func (w *worker) processorTime() (sum uint64, err error) {
	threads, err := filepath.Glob("/proc/" + w.pid() + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("no threads in /proc/%s: %w", w.pid(), err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		word, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += n
	}
	return sum, nil
}

func (w *worker) do(command string) error {
	answer, err := w.ask(command)
	if err == nil && answer != "ok" {
		err = fmt.Errorf("%s: %q", command, answer)
	}
	if err != nil {
		return &targetError{err}
	}
	return nil
}

func (w *worker) hits() (uint64, error) {
	answer, err := w.ask("hits")
	if err != nil {
		return 0, &targetError{err}
	}
	return strconv.ParseUint(answer, 10, 64)
}

var wrkRate = regexp.MustCompile(`(?m)^Requests/sec: +([0-9.]+)$`)
var wrkCount = regexp.MustCompile(`(?m)^ +(\d+) requests in `)
var wrkErrors = regexp.MustCompile(`(?m)^ *(Socket errors|Non-2xx).*`)

// loadHTTP returns requests a second.
func loadHTTP(_ config, w *worker) (rate float64, times int, err error) {
	wrk := pinned(1, "wrk", "-t1", "-c8", "-d1s", "http://"+w.http+"/items?user=ann")
	out, err := wrk.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("wrk: %w: %s", err, lastLine(out))
	}
	m := wrkRate.FindSubmatch(out)
	if e := wrkErrors.Find(out); m == nil || e != nil || !wrkCount.Match(out) {
		return 0, 0, fmt.Errorf("wrk: %s", e)
	}
	if rate, err = strconv.ParseFloat(string(m[1]), 64); err == nil {
		times, err = strconv.Atoi(string(wrkCount.FindSubmatch(out)[1]))
	}
	return rate, times, err
}

// floodUDP returns packets a second.
func floodUDP(c config, w *worker) (rate float64, times int, err error) {
	answer, err := w.flooder.ask(fmt.Sprintf("flood %s %d", w.udp, c.roundTime(500*time.Millisecond).Milliseconds()))
	if err != nil {
		return 0, 0, &targetError{err}
	}
	var ns int64
	if _, err := fmt.Sscan(answer, &times, &ns); err != nil {
		return 0, 0, fmt.Errorf("the flooder's answer %q: %w", answer, err)
	}
	return float64(times) / time.Duration(ns).Seconds(), times, nil
}

// compileOnce returns nanoseconds.
func compileOnce(_ config, w *worker) (rate float64, times int, err error) {
	answer, err := w.ask("compile")
	if err != nil {
		return 0, 0, &targetError{err}
	}
	rate, err = strconv.ParseFloat(answer, 64)
	return rate, 1, err
}

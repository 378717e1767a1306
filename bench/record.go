package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	recordRounds = 15
	recordEvents = 150_000 // of a thread in a round: a ring has room for those of two

	lttngName = "LTTng-UST, two integers"
)

// record measures recording by CPU time: of the threads that mark, and of the process that takes what was recorded
// out of the rings. Nothing may be lost, or less work would look like faster work.
func record(c config) ([]result, error) {
	if runtime.GOOS != "linux" {
		return []result{skipped("all", "CPU time is read from /proc, this is %s", runtime.GOOS)}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "recorded")
	if err := command("go", "build", "-o", program, "./bench/recorded"); err != nil {
		return nil, err
	}
	if err := command("go", "build", "-o", filepath.Join(dir, "waymark"), "./cmd/waymark"); err != nil {
		return nil, err
	}
	var all []result
	for _, mode := range []string{"overwrite", "discard"} {
		for threads := 1; threads <= min(2, runtime.NumCPU()); threads++ {
			results, err := recordIn(c, dir, program, mode, threads)
			if err != nil {
				return nil, err
			}
			all = append(all, results...)
		}
	}
	return all, nil
}

// A recording is one thing that is compared.
type recording struct {
	name     string
	pass     string // the command, without the number
	target   *target
	consumer string // its process, "" for none
	of       int    // threads
	share    int    // of recordEvents, one in so many
	tool     *recordTool

	marking, consuming []float64 // CPU nanoseconds of an event
}

// recordIn compares in one mode and with one number of threads.
func recordIn(c config, dir, program, mode string, threads int) ([]result, error) {
	work, err := os.MkdirTemp(dir, "")
	if err != nil {
		return nil, err
	}
	rings, err := os.MkdirTemp(sharedMemory(), "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(rings)
	var all []*recording
	var results []result
	suffix := fmt.Sprintf(", %s, %d", mode, threads)
	if threads == 1 {
		suffix += " thread"
	} else {
		suffix += " threads"
	}
	lttng, undo, err := lttngRecording(work, mode, threads)
	if err != nil {
		results = append(results, skipped(lttngName+suffix, "%v", firstLine(err)))
	} else {
		defer undo()
		all = append(all, lttng)
	}
	for i, own := range []struct{ name, loop, where, how string }{
		{"marker, two integers", "two", "", "raw"},
		{"marker, two integers, as events", "two", "", "events"},
		{"marker, integer and 32 bytes", "text", "", "raw"},
		{"marker, condition that holds", "two", "n >= 0", "raw"},
		{"marker, condition that fails", "two", "n < 0", "raw"},
	} {
		if own.how == "events" && mode == "overwrite" {
			continue // nobody reads
		}
		r := &recording{name: own.name, pass: "pass " + own.loop + " " + strconv.Itoa(threads), of: threads, share: 1}
		if own.loop == "text" {
			r.share = 4
		}
		if r.target, err = startTarget(program, exec.Command(program)); err != nil {
			return nil, err
		}
		defer r.target.stop()
		sub := filepath.Join(work, strconv.Itoa(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		in := filepath.Join(rings, strconv.Itoa(i))
		if err := os.Mkdir(in, 0o700); err != nil {
			return nil, err
		}
		path, err := r.target.ask(strings.TrimSpace("start " + mode + " " + in + " " + own.where))
		if err != nil {
			return nil, err
		}
		if mode == "discard" {
			reader, err := startTarget(program, exec.Command(program))
			if err != nil {
				return nil, err
			}
			defer reader.stop()
			if _, err := reader.ask("consume " + own.how + " " + path + " " + filepath.Join(sub, "out")); err != nil {
				return nil, err
			}
			r.consumer = reader.pid()
		}
		all = append(all, r)
	}
	var tool *recordTool
	if mode == "discard" {
		if tool, err = startRecordTool(dir, work, program); err != nil {
			return nil, err
		}
		defer tool.close()
		all = append(all, &recording{
			name: "marker, two integers, by waymark record", pass: "pass two " + strconv.Itoa(threads), of: threads, share: 1,
			target: tool.target, consumer: strconv.Itoa(tool.cmd.Process.Pid), tool: tool,
		})
	}
	if mode == "overwrite" {
		plain, err := startTarget(program, exec.Command(program))
		if err != nil {
			return nil, err
		}
		defer plain.stop()
		for _, other := range [][2]string{{"empty loop", "empty"}, {"marker, off", "off"}, {"the clock alone", "clock"}, {"runtime/trace.Log", "trace"}, {"zerolog", "zerolog"}, {"slog, JSON", "slog"}} {
			all = append(all, &recording{name: other[0], pass: "pass " + other[1] + " " + strconv.Itoa(threads), target: plain, of: threads, share: 1})
		}
	}
	n := recordEvents
	if c.tiny {
		n /= 50
	}
	for range c.roundsOr(recordRounds) {
		for _, r := range all {
			if err := r.round(n / r.share); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range all {
		if r.tool != nil {
			if err := r.tool.end(); err != nil {
				return nil, fmt.Errorf("%s%s: %w", r.name, suffix, err)
			}
		} else if r.target != nil && r.consumer != "" && r != lttng {
			if answer, err := r.target.ask("stop"); err != nil || strings.Fields(answer)[1] != "0" {
				return nil, fmt.Errorf("%s%s: events were lost: %s, %v", r.name, suffix, answer, err)
			}
		}
	}
	return append(results, compareWith(lttng, all, suffix)...), nil
}

// compareWith returns what was measured, program and consumer together, and where both work what the program alone
// spends: of LTTng's figures that is the one which its users know.
func compareWith(lttng *recording, all []*recording, suffix string) (results []result) {
	const program = "of which the program"
	for _, r := range all {
		to, base, marking := "", 0.0, 0.0
		if lttng != nil {
			marking = median(lttng.marking)
			base = marking + median(lttng.consuming)
			if r != lttng {
				to = lttngName + suffix
			}
		}
		results = append(results, figure(r.name+suffix, median(r.marking)+median(r.consuming), to, base))
		if len(r.consuming) == 0 {
			continue
		}
		alone := further(r.name+suffix, program, median(r.marking), "ns")
		if to != "" {
			alone.RatioTo, alone.Ratio = to+", "+program, round(median(r.marking)/marking)
		}
		results = append(results, alone, further(r.name+suffix, "of which the consumer", median(r.consuming), "ns"))
	}
	return results
}

// round passes n times on each thread, and waits until the consumer is idle.
func (r *recording) round(n int) error {
	before, err := cpuTime(r.consumer)
	if err != nil {
		return err
	}
	answer, err := r.target.ask(r.pass + " " + strconv.Itoa(n))
	if err != nil {
		return err
	}
	took, err := strconv.ParseFloat(answer, 64)
	if err != nil {
		return err
	}
	events := float64(n * r.of)
	r.marking = append(r.marking, took/events)
	if r.consumer == "" {
		return nil
	}
	time.Sleep(200 * time.Millisecond) // twice the longest pause of either's
	after, err := cpuTime(r.consumer)
	r.consuming = append(r.consuming, (after-before)/events)
	return err
}

// cpuTime returns the nanoseconds that all threads of a process have run.
func cpuTime(pid string) (sum float64, err error) {
	if pid == "" {
		return 0, nil
	}
	paths, err := filepath.Glob("/proc/" + pid + "/task/*/schedstat")
	if err != nil || len(paths) == 0 {
		return 0, errors.New("process " + pid + " has no schedstat")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		ns, _, _ := strings.Cut(string(text), " ")
		f, err := strconv.ParseFloat(ns, 64)
		if err != nil {
			return 0, err
		}
		sum += f
	}
	return sum, nil
}

// lttngRecording starts LTTng's side, with as much room in its rings.
func lttngRecording(dir, mode string, threads int) (*recording, func(), error) {
	path := filepath.Join(dir, "ust")
	if err := command("gcc", "-O2", "-Ibench/c", "-o", path, "bench/c/recorded.c", "bench/c/ust.c", "-llttng-ust", "-ldl", "-lpthread"); err != nil {
		return nil, nil, err
	}
	stop, err := startSessionDaemon()
	if err != nil {
		return nil, nil, err
	}
	session := "waymark-record-" + strconv.Itoa(os.Getpid())
	var t *target
	undo := func() {
		if t != nil {
			t.stop()
		}
		_ = command("lttng", "destroy", session)
		stop()
	}
	create := []string{"create", session, "--output=" + filepath.Join(dir, "lttng")}
	size, parts := "--subbuf-size=1M", "--num-subbuf=8"
	if mode == "overwrite" {
		create = append(create, "--snapshot")
		size, parts = "--subbuf-size=512K", "--num-subbuf=4"
	}
	for _, argv := range [][]string{
		create,
		{"enable-channel", "--userspace", "--session=" + session, "--" + mode, size, parts, "all"},
		{"enable-event", "--userspace", "--session=" + session, "--channel=all", "bench:*"},
		{"start", session},
	} {
		if err := command("lttng", argv...); err != nil {
			undo()
			return nil, nil, err
		}
	}
	if t, err = startTarget(path, exec.Command(path)); err != nil {
		undo()
		return nil, nil, err
	}
	r := &recording{name: lttngName, pass: "pass " + strconv.Itoa(threads), target: t, of: threads, share: 1}
	if mode == "discard" {
		if r.consumer, err = lttngConsumer(); err != nil {
			undo()
			return nil, nil, err
		}
	}
	return r, undo, nil
}

var consumerName = regexp.MustCompile(`^lttng-consumer`)

// lttngConsumer returns the process that writes user space traces.
func lttngConsumer() (string, error) {
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return "", err
	}
	for _, path := range names {
		if text, err := os.ReadFile(path); err == nil && consumerName.Match(text) {
			return filepath.Base(filepath.Dir(path)), nil
		}
	}
	return "", errors.New("LTTng's consumer does not run")
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const largeRounds = 2

// simple measures how long it takes to list the simple markers of large programs, for which no index is
// kept, and beside it what readelf and gdb do to tell the same.
func simple(c config) ([]result, error) {
	if !canLink {
		return []result{skipped("all", "large programs are listed and linked on linux/amd64")}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	waymark := filepath.Join(dir, "waymark")
	if err := command("go", "build", "-o", waymark, "./cmd/waymark"); err != nil {
		return nil, err
	}
	units, packages := largeUnits, largePackages
	if c.tiny {
		units, packages = 1, 1
	}
	var results []result
	program, err := largeGo(dir, packages)
	if err != nil {
		return nil, err
	}
	linked := program + ".linked"
	results = append(results, c.timed([]timed{{"Go, waymark link", program, []string{waymark, "link", "--source", dir, "-o", linked, program}}})...)
	results = append(results, c.listed("Go", waymark, linked, "p.go:9")...)
	if _, err := exec.LookPath("g++"); err != nil {
		return append(results, skipped("C++", "%v", err)), nil
	}
	if program, err = largeC(dir, units); err != nil {
		return nil, err
	}
	return append(results, c.listed("C++", waymark, program, "large.cc:30")...), nil
}

// timed is a command that reads a file.
type timed struct {
	name string
	file string
	argv []string
}

// listed measures what tells where the markers of a file are; line is one of its source.
func (c config) listed(kind, waymark, file, line string) []result {
	results := c.timed([]timed{
		{kind + ", waymark list --simple", file, []string{waymark, "list", "--simple", file}},
		{kind + ", waymark list --simple -v", file, []string{waymark, "list", "--simple", "-v", file}},
		{kind + ", readelf, all lines decoded", file, []string{"readelf", "--debug-dump=decodedline", file}},
		{kind + ", gdb, info scope at one line", file, []string{"gdb", "-nx", "-batch", "-ex", "info scope " + line, file}},
	})
	if info, err := os.Stat(file); err == nil {
		results = append(results, measured(kind+", the file", float64(info.Size())/1e6, "MB"))
	}
	if size, err := debugSize(file); err == nil {
		results = append(results, measured(kind+", its debug sections, uncompressed", float64(size)/1e6, "MB"))
	}
	return results
}

// timed measures commands: their first run has nothing of the file in memory. The others are interleaved.
func (c config) timed(commands []timed) (results []result) {
	first, times, peaks := make([]float64, len(commands)), make([][]float64, len(commands)), make([]float64, len(commands))
	failed := make([]error, len(commands))
	for round := range c.roundsOr(largeRounds) + 1 {
		for i, t := range commands {
			if failed[i] != nil || c.tiny && round > 0 && len(times[i]) > 0 {
				continue
			}
			if round == 0 {
				forgetFile(t.file)
			}
			cmd := exec.Command(t.argv[0], t.argv[1:]...)
			start := time.Now()
			failed[i] = cmd.Run()
			if ns := float64(time.Since(start).Nanoseconds()); round == 0 {
				first[i] = ns
			} else {
				times[i] = append(times[i], ns)
			}
			if cmd.ProcessState != nil {
				peaks[i] = max(peaks[i], peakMemory(cmd.ProcessState))
			}
		}
	}
	for i, t := range commands {
		if failed[i] != nil {
			results = append(results, skipped(t.name, "%v", failed[i]))
			continue
		}
		slices.Sort(times[i])
		to := ""
		if i > 0 && failed[0] == nil {
			to = commands[0].name
		}
		results = append(results, figure(t.name, median(times[i]), to, median(times[0])),
			further(t.name, "not in memory before", first[i], "ns"), further(t.name, "peak", peaks[i]/1e6, "MB"))
	}
	return results
}

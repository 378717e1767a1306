package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const (
	listRounds    = 7
	listProcesses = 300 // that sleep, besides what runs anyway
)

// list measures how long it takes to list the markers of every running process, and beside it what
// reads the notes of the same files and knows nothing of processes.
func list(c config) ([]result, error) {
	if runtime.GOOS != "linux" {
		return []result{skipped("all", "processes are read from /proc, this is %s", runtime.GOOS)}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	waymark := filepath.Join(dir, "waymark")
	if text, err := exec.Command("go", "build", "-o", waymark, "./cmd/waymark").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building waymark: %w\n%s", err, text)
	}
	for range listProcesses {
		sleep := exec.Command("sleep", "3600")
		if err := sleep.Start(); err != nil {
			return nil, err
		}
		defer func() {
			sleep.Process.Kill()
			sleep.Wait()
		}()
	}
	files, err := mappedFiles()
	if err != nil {
		return nil, err
	}
	commands := []struct {
		name string
		argv []string
	}{
		{"waymark list", []string{waymark, "list"}},
		{"readelf -n of the same files", append([]string{"readelf", "-nW"}, files...)},
	}
	var results []result
	times := make([][]float64, len(commands))
	for range c.roundsOr(listRounds) {
		for i, command := range commands {
			start := time.Now()
			if err := exec.Command(command.argv[0], command.argv[1:]...).Run(); err != nil {
				results = append(results, skipped(command.name, "%v", err))
				continue
			}
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds()))
		}
	}
	for i, command := range commands {
		if len(times[i]) == 0 {
			continue
		}
		slices.Sort(times[i])
		to := ""
		if i > 0 {
			to = commands[0].name
		}
		results = append(results, figure(command.name, median(times[i]), to, median(times[0])))
	}
	return append(results, measured("files mapped by all processes", float64(len(files)), "files")), nil
}

// mappedFiles returns the executables and libraries that processes map, each once.
func mappedFiles() ([]string, error) {
	maps, err := filepath.Glob("/proc/[0-9]*/maps")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, path := range maps {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or is somebody else's
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 6 && strings.Contains(f[1], "x") && f[5][0] == '/' {
				if _, err := os.Stat(f[5]); err == nil {
					files = append(files, f[5])
				}
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

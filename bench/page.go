package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
	"time"
)

//go:embed page.md
var pageText string

// paged are the benchmarks of the page, in the order in which they run.
var paged = []string{"disabled", "enabled", "uprobes", "size", "code", "macro", "start", "tracers", "lost"}

// figures are what all benchmarks of one run found.
type figures map[string][]result

// get returns a result of a benchmark, one that was skipped if there is none.
func (all figures) get(bench, name string) result {
	for _, r := range all[bench] {
		if r.Case == name {
			return r
		}
	}
	for _, r := range all[bench] {
		if r.Skipped != "" && strings.HasSuffix(name, ", "+lastPart(r.Case)) {
			return r
		}
	}
	return skipped(name, "not measured")
}

func lastPart(name string) string { return name[strings.LastIndex(name, ", ")+1:] }

// because says why there is no figure.
func because(r result) string { return "skipped: " + strings.ReplaceAll(r.Skipped, "|", "/") }

// writePage runs the benchmarks and writes the page in place of the one that is there.
func writePage(path string, c config) error {
	start := time.Now()
	all := make(figures)
	for _, name := range paged {
		fmt.Fprintln(c.log, name)
		chosen, err := choose([]string{name})
		if err != nil {
			return err
		}
		if all[name], err = chosen[0].run(c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	page, err := all.page(start, time.Since(start))
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".page")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(page)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// committed is where the page is in the tree. A page that is written elsewhere names that too: it is to go there.
const committed = "docs/performance.md"

// page lays a run out.
func (all figures) page(start time.Time, took time.Duration) ([]byte, error) {
	markdown := func(name string) (string, error) {
		var b bytes.Buffer
		err := printMarkdown(&b, benchmark{name: name}, all[name])
		return strings.TrimSpace(b.String()), err
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"table":    markdown,
		"bars":     func() string { return barsTable(all) },
		"verdict":  func(about string) (string, error) { return verdict(about, all) },
		"disabled": func() string { return disabledTable(all) },
		"forms":    func(bench string) string { return formsTable(all[bench]) },
		"source":   func() string { return sourceTable(all) },
		"derived":  derivedTable,
		"lost":     func() string { return lostTable(all["lost"]) },
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{
		"Path": committed, "Date": start.UTC().Format("2006-01-02 15:04 UTC"), "Took": took.Round(time.Second).String(),
		"Go": runtime.Version(), "Machine": machine(),
	})
	return append(bytes.TrimSpace(b.Bytes()), '\n'), err
}

// machine says what this runs on.
func machine() string {
	cpu := make(map[string]string)
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		cpu[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	kernel, err := exec.Command("uname", "-sr").Output()
	if err != nil {
		kernel = []byte(runtime.GOOS)
	}
	return fmt.Sprintf("%s (family %s, model %s), %d CPUs, %s", cpu["model name"], cpu["cpu family"], cpu["model"], runtime.NumCPU(), strings.TrimSpace(string(kernel)))
}

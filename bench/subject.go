package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/tracer/link"
)

// placements is how many copies of a loop there are, and what a figure of it is the mean of. Each lies 7 bytes
// further in its function than the one before: together at every position of a cache line.
const placements = 64

// subject is a running program that times its own loops.
type subject struct {
	*target
	kind string // "generic", "optimized", …
	hz   float64
}

// subjects are bench/loops, the same build linked in two ways, and without what the second made of its
// sites. On platforms without link there is one of them, which is generic as well.
type subjects struct {
	dir       string
	generic   *subject
	optimized *subject // nil for none
	blank     *subject // nil for none
	report    *link.Report
}

// withSubjects starts both for as long as something is measured of them.
func withSubjects(measure func(*subjects) ([]result, error)) ([]result, error) {
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := startSubjects(dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return measure(s)
}

func startSubjects(dir string) (s *subjects, err error) {
	s = &subjects{dir: dir}
	plain := filepath.Join(dir, "loops")
	overlay, err := copiesOverlay(dir)
	if err != nil {
		return nil, err
	}
	if err := command("go", "build", "-overlay", overlay, "-o", plain, "./bench/loops"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if !canLink {
		s.generic, err = startSubject("generic", plain)
		return s, err
	}
	for kind, o := range map[string]link.Options{"generic": {}, "optimized": {Optimize: true}} {
		path := filepath.Join(dir, "loops-"+kind)
		report, err := link.File(plain, path, o)
		if err != nil {
			return nil, fmt.Errorf("linking loops: %w", err)
		}
		started, err := startSubject(kind, path)
		if err != nil {
			return nil, err
		}
		if o.Optimize {
			s.optimized, s.report = started, report
		} else {
			s.generic = started
		}
	}
	path := filepath.Join(dir, "loops-blank")
	if err := blankSites(filepath.Join(dir, "loops-optimized"), path); err != nil {
		return nil, err
	}
	s.blank, err = startSubject("sites as NOPs", path)
	return s, err
}

const canLink = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

func startSubject(kind, path string) (*subject, error) {
	t, err := startTarget(path, exec.Command(path)) // it keeps to one CPU by itself
	if err != nil {
		return nil, err
	}
	return newSubject(kind, t)
}

// newSubject asks for what is asked once.
func newSubject(kind string, t *target) (*subject, error) {
	s := &subject{target: t, kind: kind}
	answer, err := s.ask("ticks")
	if err == nil {
		s.hz, err = strconv.ParseFloat(answer, 64)
	}
	if err != nil {
		t.stop()
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return s, nil
}

func (s *subjects) stop() {
	for _, p := range []*subject{s.generic, s.optimized, s.blank} {
		if p != nil {
			p.target.stop()
		}
	}
}

// all returns the processes that there are.
func (s *subjects) all() []*subject {
	if s.optimized == nil {
		return []*subject{s.generic}
	}
	return []*subject{s.generic, s.optimized}
}

// do gives a command that is answered with "ok".
func (s *subject) do(command string) error {
	answer, err := s.ask(command)
	if err == nil && answer != "ok" {
		err = fmt.Errorf("%s: %q", command, answer)
	}
	return err
}

// numbers gives a command that is answered with numbers.
func (s *subject) numbers(command string) ([]float64, error) {
	answer, err := s.ask(command)
	if err != nil {
		return nil, err
	}
	var all []float64
	for _, word := range strings.Fields(answer) {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no answer", command)
	}
	return all, nil
}

var loopText = regexp.MustCompile(`(?s)//go:noinline\nfunc (\w+)\(n int\) \{\n(.*?\n\}\n)`)

// copiesOverlay writes the further copies of the loops in bench/loops/loops.go, and returns the file for
// go build that adds them.
func copiesOverlay(dir string) (string, error) {
	text, err := os.ReadFile("bench/loops/loops.go")
	if err != nil {
		return "", err
	}
	var code, list strings.Builder
	for _, m := range loopText.FindAllStringSubmatch(string(text), -1) {
		further := ""
		for i := 1; i < placements; i++ {
			further += fmt.Sprintf("\tfurther[%d]++\n", i)
			fmt.Fprintf(&code, "\n//go:noinline\nfunc %sAt%d(n int) {\n%s%s", m[1], i, further, m[2])
			fmt.Fprintf(&list, "\tcopies[%q] = append(copies[%q], %sAt%d)\n", m[1], m[1], m[1], i)
		}
	}
	if list.Len() == 0 {
		return "", errors.New("bench/loops/loops.go has no loops")
	}
	source := filepath.Join(dir, "copies.go")
	added, err := filepath.Abs("bench/loops/copies.go")
	if err != nil {
		return "", err
	}
	return writeOverlay(dir, added, source, "package main\n\nvar further ["+strconv.Itoa(placements)+"]int\n\nfunc init() {\n"+list.String()+"}\n"+code.String())
}

// writeOverlay writes text to a file, and what tells go build to take it for another one.
func writeOverlay(dir, replaced, source, text string) (string, error) {
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: source}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, errors.Join(os.WriteFile(source, []byte(text), 0o666), os.WriteFile(list, overlay, 0o666))
}

// command runs one that must succeed.
func command(name string, args ...string) error {
	if text, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, text)
	}
	return nil
}

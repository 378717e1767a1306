package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/tracer/link"
)

// sized is a program, measured section by section.
type sized struct {
	kind     string
	report   *link.Report
	sections map[string]float64 // bytes, by the name of the group below
	hot      float64            // bytes of one site that are executed while off
	steps    float64            // and instructions
}

// groups are the sections in the order of the table. What is not named there does not grow with markers.
var groups = []struct{ name, prefix string }{
	{"code", ".text"},
	{"data", ".data"},
	{"strings and types", ".rodata"},
	{"the runtime's function table", ".gopclntab"},
	{"notes (not loaded)", ".note.stapsdt"},
	{"names, types and sites (not loaded)", ".waymark"},
	{"debug information (not loaded)", ".debug"},
	{"symbols (not loaded)", ".symtab"},
	{"symbol names (not loaded)", ".strtab"},
}

// sizes measures what one of a thousand markers adds to a program, generic and optimized.
func sizes(c config) ([]result, error) {
	if !canLink {
		return []result{skipped("all", "link is for linux/amd64")}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The functions call something: a function that does not gets a frame with its first call, be that a marker's.
	const work = "passed += work(n)"
	const more = "\nvar one = marker.New0(\"library:one\", \"\")\n\n//go:noinline\nfunc work(n int) int { one.Mark(); return n / 3 }\n"
	const head = `import "github.com/waymark-trace/waymark/marker"`
	without := &starter{name: "no markers", library: library(head, "", work) + more}
	with := &starter{name: "markers", library: library(head,
		`var m%[1]d = marker.New2[int, uintptr]("library:m%[1]d", "n %%d at %%p")`, "m%[1]d.Mark(n, 0); "+work) + more}
	for i, p := range []*starter{without, with} {
		if err := p.build(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return nil, err
		}
	}
	base := &sized{kind: "none"}
	if err := base.measure(without.path, link.Options{}, nil); err != nil {
		return nil, err
	}
	optimized, generic := &sized{kind: "optimized"}, &sized{kind: "generic"}
	if err := optimized.measure(with.path, link.Options{Optimize: true}, nil); err != nil {
		return nil, err
	}
	if err := generic.measure(with.path, link.Options{}, optimized.report.Sites); err != nil {
		return nil, err
	}
	var all []result
	for _, s := range []*sized{generic, optimized} {
		added := func(group string) float64 { return (s.sections[group] - base.sections[group]) / manyMarkers }
		all = append(all,
			measured("instructions, executed while off, "+s.kind, s.steps, "instructions"),
			measured("code, executed while off, "+s.kind, s.hot, "bytes"),
			measured("code, executed while on, "+s.kind, added("code")-s.hot, "bytes"))
		for _, g := range groups[1:] {
			all = append(all, measured(g.name+", "+s.kind, added(g.name), "bytes"))
		}
	}
	return all, nil
}

// measure links a program and measures the result. The sites of a generic one lie where those of
// the optimized one do.
func (s *sized) measure(plain string, o link.Options, sites []link.SiteReport) (err error) {
	path := plain + "-" + s.kind
	if s.report, err = link.File(plain, path, o); err != nil {
		return err
	}
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.sections = make(map[string]float64)
	for _, section := range f.Sections {
		for _, g := range groups {
			if strings.HasPrefix(section.Name, g.prefix) {
				s.sections[g.name] += float64(section.FileSize)
			}
		}
	}
	if o.Optimize {
		sites = s.report.Sites
	}
	n := 0
	for _, site := range sites {
		if !strings.Contains(site.Function, "/library.pass") || site.Kind != "marker" {
			continue
		}
		bytes, steps, err := whileOff(f.Section(".text"), site.Address)
		if err != nil {
			return err
		}
		s.hot, s.steps, n = s.hot+float64(bytes), s.steps+float64(steps), n+1
	}
	if n > 0 {
		s.hot, s.steps = s.hot/float64(n), s.steps/float64(n)
	}
	return nil
}

// whileOff returns how long a site is up to its jump, or to the NOP over which one that reads no word falls
// through, and how many instructions that are.
func whileOff(text *elf.Section, site uint64) (bytes, steps int, err error) {
	code := make([]byte, 64)
	if _, err := text.ReadAt(code, int64(site-text.Addr)); err != nil {
		return 0, 0, err
	}
	loads := false
	for bytes < len(code) {
		in, err := x86asm.Decode(code[bytes:], 64)
		if err != nil {
			return 0, 0, fmt.Errorf("the code at 0x%x: %w", site, err)
		}
		bytes, steps = bytes+in.Len, steps+1
		loads = loads || in.MemBytes == 4 && in.Op != x86asm.NOP
		if _, jump := in.Args[0].(x86asm.Rel); jump || in.Op == x86asm.NOP && !loads {
			return bytes, steps, nil
		}
	}
	return 0, 0, fmt.Errorf("the site at 0x%x has no jump", site)
}

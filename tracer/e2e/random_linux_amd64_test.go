package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
	"github.com/waymark-trace/waymark/tracer/internal/simple/ccode"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

var (
	randomPrograms = flag.Int("programs", 4, "how many programs TestRandomPrograms makes")
	randomSeed     = flag.Uint64("seed", 1, "the seed of its first program")
	randomVerbose  = flag.Bool("wrong", false, "print each variable with a wrong value, and each marker with wrong hits")
)

// TestRandomPrograms compares the values that the debugging information of random programs has at
// their markers with those that the same programs print without optimization. Without optimization
// none is wrong. With it, values are as good as the compiler's debugging information:
//
//	go test ./tracer/e2e -run TestRandomPrograms -v -programs 500 -seed 1001
func TestRandomPrograms(t *testing.T) {
	peer.Need(t, "gcc", "g++", "clang", "clang++")
	include, err := filepath.Abs("../../include")
	if err != nil {
		t.Fatal(err)
	}
	var builds []string // by compiler and level
	sums := map[string]*randomTally{}
	for _, compiler := range []string{"gcc", "clang"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			builds = append(builds, compiler+" "+level)
			sums[compiler+" "+level] = &randomTally{}
		}
	}
	made := 0
	for i := range uint64(*randomPrograms) {
		p := randomBuild{dir: t.TempDir(), include: include, seed: *randomSeed + i, cplusplus: (*randomSeed+i)%5 == 0}
		if !p.print(t) {
			continue
		}
		made++
		for _, build := range builds {
			if err := p.compare(build, sums[build]); err != nil {
				t.Errorf("seed %d: %s: %v", p.seed, build, err)
			}
		}
		_ = os.RemoveAll(p.dir)
	}
	t.Logf("%d programs of seeds %d to %d", made, *randomSeed, *randomSeed+uint64(*randomPrograms)-1)
	for _, build := range builds {
		s := sums[build]
		t.Logf("%-8s %6d right values, %5d wrong, %6d missing; %4d variables at places always right, %3d not; %4d markers with the right hits, %2d not",
			build, s.right, s.wrong, s.missing, s.sound, s.unsound, s.counted, s.miscounted)
		if strings.HasSuffix(build, "-O0") && (s.wrong > 0 || s.right < 9*s.missing) {
			t.Errorf("%s: %d right values, %d wrong, %d missing; want none wrong and few missing", build, s.right, s.wrong, s.missing)
		}
	}
}

// randomTally counts the results of several builds.
type randomTally struct {
	right, wrong, missing int // values
	sound, unsound        int // variables at places: all values right, or some wrong
	counted, miscounted   int // markers with places everywhere: right or wrong number of hits
}

// randomBuild is a program and its output.
type randomBuild struct {
	dir, include string
	cplusplus    bool
	seed         uint64
	truth        map[string][][]string // by marker: the values of each pass
}

func (p *randomBuild) source() string {
	if p.cplusplus {
		return "r.cc"
	}
	return "r.c"
}

// compile runs one of the compilers.
func (p *randomBuild) compile(compiler string, args ...string) error {
	if p.cplusplus {
		compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
	}
	cmd := exec.Command(compiler, append([]string{"-w", "-I" + p.include, p.source()}, args...)...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// print has the program print its values; false when it passes no marker or too many, or when its
// behavior is undefined.
func (p *randomBuild) print(t *testing.T) bool {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, p.source()), []byte(randomProgram(p.seed, p.cplusplus)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.compile("gcc", "-O0", "-DPRINT", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-o", "printing"); err != nil {
		t.Fatalf("seed %d: %v", p.seed, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(p.dir, "printing")).Output()
	if err != nil {
		return false
	}
	p.truth = map[string][][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		p.truth[words[0]] = append(p.truth[words[0]], words[1:])
	}
	return len(p.truth) > 0
}

// randomPlace is a place of a marker.
type randomPlace struct {
	marker    string
	variables []randomVariable
}

// randomVariable is a variable at a place.
type randomVariable struct {
	name         string
	program      location.Program
	size         int64
	err          error
	right, wrong int
}

// randomHit is one pass of a place.
type randomHit struct {
	place  *randomPlace
	values []int64
	errs   []error
}

// compare builds, runs, and compares.
func (p *randomBuild) compare(build string, sum *randomTally) error {
	compiler, level, _ := strings.Cut(build, " ")
	if err := p.compile(compiler, "-g", level, "-fno-pie", "-no-pie", "-o", "program"); err != nil {
		return err
	}
	file := filepath.Join(p.dir, "program")
	at, refused, err := randomPlaces(file)
	if err != nil {
		return err
	}
	hits := map[string][]randomHit{}
	s := &stopper{}
	err = s.run(file, slices.Collect(maps.Keys(at)), func(address uint64) {
		for _, pl := range at[address] {
			h := randomHit{place: pl, values: make([]int64, len(pl.variables)), errs: make([]error, len(pl.variables))}
			for i := range pl.variables {
				v := &pl.variables[i]
				if h.errs[i] = v.err; v.err == nil {
					h.values[i], h.errs[i] = s.evaluate(v.program)
				}
			}
			hits[pl.marker] = append(hits[pl.marker], h)
		}
	})
	if err != nil {
		return err
	}
	for name, truth := range p.truth {
		got := hits[name]
		switch {
		case refused[name]: // its hits are some of those
		case len(got) != len(truth):
			sum.miscounted++
			if *randomVerbose {
				fmt.Printf("seed %d %s: %s: %d hits, want %d\n", p.seed, build, name, len(got), len(truth))
			}
		default:
			sum.counted++
			for i := range got {
				p.same(build, &got[i], truth[i], sum)
			}
		}
	}
	for _, all := range at {
		for _, pl := range all {
			for _, v := range pl.variables {
				switch {
				case v.wrong > 0:
					sum.unsound++
				case v.right > 0:
					sum.sound++
				}
			}
		}
	}
	return nil
}

// same compares the values of one pass.
func (p *randomBuild) same(build string, h *randomHit, truth []string, sum *randomTally) {
	for i := range h.values {
		v := &h.place.variables[i]
		if h.errs[i] != nil {
			sum.missing++
			continue
		}
		want, err := strconv.ParseInt(truth[i], 10, 64)
		if err != nil {
			above, _ := strconv.ParseUint(truth[i], 10, 64)
			want = int64(above)
		}
		if unused := 64 - 8*v.size; h.values[i]<<unused == want<<unused {
			sum.right++
			v.right++
			continue
		}
		sum.wrong++
		if v.wrong++; v.wrong == 1 && *randomVerbose {
			fmt.Printf("seed %d %s: %s: %s is %d, want %s\n", p.seed, build, h.place.marker, v.name, h.values[i], truth[i])
		}
	}
}

// randomPlaces returns the places of a file's markers by address, and the markers that are refused
// at some.
func randomPlaces(file string) (at map[uint64][]*randomPlace, refused map[string]bool, err error) {
	image, err := elffile.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer image.Close()
	records, problems, err := section.Read(image)
	if err = errors.Join(append(problems, err)...); err != nil {
		return nil, nil, err
	}
	raw, err := image.Named(section.Section, section.MaxSize)
	if err != nil {
		return nil, nil, err
	}
	info, err := debuginfo.Open(image, file)
	if err != nil {
		return nil, nil, err
	}
	defer info.Close()
	at, refused = map[uint64][]*randomPlace{}, map[string]bool{}
	err = debuginfo.Guard(func() error {
		text, err := info.Section(section.AddressSection)
		if err != nil {
			return err
		}
		addresses, err := section.ParseAddresses(text, raw)
		if err != nil {
			return err
		}
		marks := make([]ccode.Mark, len(records))
		for i, r := range records {
			marks[i] = ccode.Mark{File: r.File, Line: r.Line}
			for _, a := range addresses {
				if a.Record == r {
					marks[i].At = append(marks[i].At, ccode.Address{Address: a.Address, Size: a.Size})
				}
			}
		}
		found, err := ccode.Find(info, marks)
		for i := range found {
			r := &records[i]
			refused[r.Name] = len(found[i].Refused) > 0
			for _, p := range found[i].Places {
				pl := &randomPlace{marker: r.Name}
				for _, name := range section.Split(r.Variables) {
					pl.variables = append(pl.variables, randomLookup(info, &p, r.Line, name))
				}
				at[p.Address] = append(at[p.Address], pl)
			}
		}
		return err
	})
	return at, refused, err
}

func randomLookup(info *debuginfo.File, p *ccode.Place, line int, name string) randomVariable {
	out := randomVariable{name: name, err: p.NoScope}
	if p.Scope == nil {
		return out
	}
	v := variable.At(info, p.Scope, variable.Point{Position: p.At, Probe: p.Address, Line: line}).Lookup(name)
	if out.err = v.Err; v.Err != nil {
		return out
	}
	r := v.Readings(0)[0]
	if out.err = r.Err; r.Err != nil {
		return out
	}
	if out.program, out.size = r.Number, v.Type.Size; r.Number == nil {
		out.err = fmt.Errorf("%s is no number", name)
	}
	return out
}

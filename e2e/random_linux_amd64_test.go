package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/debuginfo"
	"github.com/waymark-trace/waymark/internal/fetch"
	"github.com/waymark-trace/waymark/internal/peer"
	"github.com/waymark-trace/waymark/internal/place"
	"github.com/waymark-trace/waymark/internal/simplesection"
	"github.com/waymark-trace/waymark/internal/variable"
	"github.com/waymark-trace/waymark/sdt"
)

var (
	randomPrograms = flag.Int("programs", 4, "how many programs TestRandomPrograms makes")
	randomSeed     = flag.Uint64("seed", 1, "the seed of the first program of TestRandomPrograms")
	randomVerbose  = flag.Bool("wrong", false, "print wrong values")
)

// TestRandomPrograms compares the values that waymark reads of optimized programs with those
// that the same programs print without optimization.
func TestRandomPrograms(t *testing.T) {
	peer.Need(t, "gcc", "g++", "clang", "clang++")
	include, err := filepath.Abs("../include")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]*randomTally{}
	made := 0
	for i := range *randomPrograms {
		seed := *randomSeed + uint64(i)
		cplusplus := seed%5 == 0
		p := randomBuild{dir: t.TempDir(), cplusplus: cplusplus, seed: seed, include: include}
		if !p.write(t) {
			continue
		}
		made++
		for _, compiler := range []string{"gcc", "clang"} {
			for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
				key := compiler + " " + level
				if sums[key] == nil {
					sums[key] = &randomTally{}
				}
				if err := p.compare(compiler, level, sums[key]); err != nil {
					t.Errorf("seed %d: %s %s: %v", seed, compiler, level, err)
				}
			}
		}
		_ = os.RemoveAll(p.dir)
		if made%20 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d programs of seeds %d to %d\n", time.Now().Format("15:04:05"), made, *randomSeed, seed)
			if data, err := json.Marshal(sums); err == nil && *randomTrust {
				_ = os.WriteFile(fmt.Sprintf("/tmp/random.%d.json", *randomSeed), data, 0o600)
			}
		}
	}
	t.Logf("%d programs of seeds %d to %d", made, *randomSeed, *randomSeed+uint64(*randomPrograms)-1)
	for _, key := range []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O3", "clang -O0", "clang -O1", "clang -O2", "clang -O3"} {
		if s := sums[key]; s != nil {
			t.Logf("%s: %+v", key, *s)
		}
	}
}

// randomTally is what there is of some builds.
type randomTally struct {
	Right, Wrong, Missing int // values
	Places, Refused       int
	Reasons               map[string]int
	Counted, Miscounted   int                // markers whose passes are known
	ByMask                map[uint32]*[4]int // by checks: right and wrong values, right and wrong variables at places
	CountMask             map[uint32]*[2]int // by checks: markers counted right and wrong
}

type randomBuild struct {
	dir, include string
	cplusplus    bool
	seed         uint64
	truth        map[string][][]string // by marker: the values of each pass
}

func (p *randomBuild) source() string {
	return filepath.Join(p.dir, map[bool]string{false: "r.c", true: "r.cc"}[p.cplusplus])
}

// write writes the program and has it print its values; false when it passes no marker or too many, or
// does what C leaves undefined.
func (p *randomBuild) write(t *testing.T) bool {
	t.Helper()
	if err := os.WriteFile(p.source(), []byte(randomProgram(p.seed, p.cplusplus)), 0o600); err != nil {
		t.Fatal(err)
	}
	printing := filepath.Join(p.dir, "printing")
	args := []string{"-w", "-O0", "-DPRINT", "-I../include", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-o", printing, p.source()}
	if out, err := exec.Command(map[bool]string{false: "gcc", true: "g++"}[p.cplusplus], args...).CombinedOutput(); err != nil {
		t.Fatalf("seed %d: %v\n%s", p.seed, err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, printing).Output()
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

// randomVariable is one of a marker at a place.
type randomVariable struct {
	program fetch.Program
	size    int64
	doubts  variable.Doubt
	err     error
	right   int
	wrong   int
}

// randomPlace is a place of a marker.
type randomPlace struct {
	marker    string
	doubts    variable.Doubt
	variables []randomVariable
}

// randomHit is one pass of a place.
type randomHit struct {
	place  *randomPlace
	values []int64
	errs   []error
}

// compare builds, runs, and compares.
func (p *randomBuild) compare(compiler, level string, sum *randomTally) error {
	file := filepath.Join(p.dir, "program")
	command := map[string]string{"gcc": "gcc", "clang": "clang"}[compiler]
	if p.cplusplus {
		command = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
	}
	args := []string{"-w", "-g", level, "-fno-pie", "-no-pie", "-I" + p.include, "-o", file, filepath.Base(p.source())}
	cmd := exec.Command(command, args...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	at, refused, err := randomPlaces(file)
	if err != nil {
		return err
	}
	var addresses []uint64
	for a := range at {
		addresses = append(addresses, a)
	}
	hits := map[string][]randomHit{}
	s := &stopper{}
	err = s.run(file, addresses, func(address uint64) {
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
	if sum.ByMask == nil {
		sum.ByMask, sum.CountMask = map[uint32]*[4]int{}, map[uint32]*[2]int{}
	}
	for _, pls := range at {
		sum.Places += len(pls)
	}
	masks := map[string]variable.Doubt{}
	for _, pls := range at {
		for _, pl := range pls {
			masks[pl.marker] |= pl.doubts
		}
	}
	for _, n := range refused {
		sum.Refused += n
	}
	for name, truth := range p.truth {
		got := hits[name]
		if refused[name] > 0 {
			continue
		}
		mask := uint32(masks[name])
		if sum.CountMask[mask] == nil {
			sum.CountMask[mask] = &[2]int{}
		}
		if len(got) != len(truth) {
			sum.Miscounted++
			sum.CountMask[mask][1]++
			if *randomVerbose {
				fmt.Printf("seed %d %s %s: %s: %d hits, want %d, doubts %#x\n", p.seed, compiler, level, name, len(got), len(truth), mask)
			}
			continue
		}
		sum.Counted++
		sum.CountMask[mask][0]++
		for i := range got {
			p.same(compiler, level, &got[i], truth[i], sum)
		}
	}
	for _, pls := range at {
		for _, pl := range pls {
			for i := range pl.variables {
				v := &pl.variables[i]
				if v.right+v.wrong == 0 {
					continue
				}
				if m := sum.ByMask[uint32(v.doubts|pl.doubts)]; v.wrong > 0 {
					m[3]++
				} else {
					m[2]++
				}
			}
		}
	}
	return nil
}

func (p *randomBuild) same(compiler, level string, h *randomHit, truth []string, sum *randomTally) {
	for i := range h.values {
		v := &h.place.variables[i]
		if h.errs[i] != nil {
			sum.Missing++
			if sum.Reasons == nil {
				sum.Reasons = map[string]int{}
			}
			sum.Reasons[fmt.Sprint(h.errs[i])]++
			continue
		}
		want, err := strconv.ParseInt(truth[i], 10, 64)
		if err != nil {
			u, _ := strconv.ParseUint(truth[i], 10, 64)
			want = int64(u)
		}
		unused := 64 - 8*v.size
		mask := uint32(v.doubts | h.place.doubts)
		if sum.ByMask[mask] == nil {
			sum.ByMask[mask] = &[4]int{}
		}
		if h.values[i]<<unused == want<<unused {
			sum.Right++
			v.right++
			sum.ByMask[mask][0]++
			continue
		}
		sum.Wrong++
		sum.ByMask[mask][1]++
		if v.wrong++; v.wrong == 1 && *randomVerbose {
			fmt.Printf("seed %d %s %s: %s: value %d is %d, want %s, doubts %#x\n", p.seed, compiler, level, h.place.marker, i, h.values[i], truth[i], mask)
		}
	}
}

// randomPlaces returns the places of a file's markers by address, and how many each marker has that are refused.
func randomPlaces(file string) (at map[uint64][]*randomPlace, refused map[string]int, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	records, _, err := simplesection.Read(file)
	if err != nil {
		return nil, nil, err
	}
	info, err := debuginfo.Open(bytes.NewReader(data), file)
	if err != nil {
		return nil, nil, err
	}
	defer info.Close()
	raw, err := randomRecords(file)
	if err != nil {
		return nil, nil, err
	}
	at, refused = map[uint64][]*randomPlace{}, map[string]int{}
	err = debuginfo.Guard(func() error {
		section, err := info.Section(simplesection.AddressSection)
		if err != nil {
			return err
		}
		all, err := simplesection.ParseAddresses(section, raw)
		if err != nil {
			return err
		}
		marks := make([]place.Mark, len(records))
		for i, r := range records {
			marks[i] = place.Mark{File: r.File, Line: r.Line}
			for _, a := range all {
				if a.Record == r {
					marks[i].At = append(marks[i].At, place.Address{Address: a.Address, Size: a.Size})
				}
			}
		}
		found, err := place.Find(info, marks)
		if err != nil {
			return err
		}
		for i, r := range records {
			refused[r.Name] += len(found[i].Refused)
			for _, p := range found[i].Places {
				pl := &randomPlace{marker: r.Name, doubts: p.Doubts}
				for _, name := range simplesection.Split(r.Variables) {
					pl.variables = append(pl.variables, randomLookup(info, &p, r.Line, name))
				}
				at[p.Address] = append(at[p.Address], pl)
			}
		}
		return nil
	})
	return at, refused, err
}

func randomLookup(info *debuginfo.File, p *place.Place, line int, name string) randomVariable {
	if p.Scope == nil {
		return randomVariable{err: p.NoScope}
	}
	fr := variable.At(info, p.Scope, variable.Point{Address: p.Marker, Views: p.Views, Probe: p.Address, Line: line, Again: p.Again, Join: p.Join, Own: p.Own, Ahead: p.Ahead, Counters: p.Counters, Ways: p.Ways})
	v := fr.Lookup(name)
	out := randomVariable{err: v.Err}
	whole, _, _ := strings.Cut(name, ".")
	out.doubts = fr.Lookup(whole).Doubts
	if readings := v.Readings(0); v.Err == nil {
		out.program, out.err = readings[0].Number, readings[0].Err
		if v.Type != nil {
			out.size = v.Type.Size
		}
	}
	if out.err == nil && (out.program == nil || !slices.Contains([]int64{1, 2, 4, 8}, out.size)) {
		out.err = fmt.Errorf("%s is no number", name)
	}
	return out
}

func randomRecords(file string) ([]byte, error) {
	return sdt.ReadSection(file, simplesection.Section, simplesection.MaxSize)
}

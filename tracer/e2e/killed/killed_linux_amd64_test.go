package killed

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/link"
)

func TestMain(m *testing.M) {
	if os.Getenv(launcher) != "" {
		fmt.Fprintln(os.Stderr, launch())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// sampleTime is how long the sample takes that runs without WAYMARK_SEEDS.
const sampleTime = 15 * time.Second

// TestKilled kills waymark at every call of every verb, twice for each seed of WAYMARK_SEEDS=FROM..TO: before the call and
// after it. The seed chooses whether the process or all are killed. Without seeds it does so at some calls. WAYMARK_KILLED=stat,link chooses verbs.
func TestKilled(t *testing.T) {
	peer.Root(t)
	peer.KernelEvents(t)
	p := build(t)
	var from, to uint64
	seeds := os.Getenv("WAYMARK_SEEDS")
	if seeds == "" {
		p.sample(t, peer.Seed(t))
		return
	}
	if _, err := fmt.Sscanf(seeds, "%d..%d", &from, &to); err != nil {
		t.Fatalf("WAYMARK_SEEDS=%s: %v", seeds, err)
	}
	for seed := from; seed <= to; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var sum totals
			for i := range scenarios {
				if s := &scenarios[i]; chosen(s.name) {
					t.Run(s.name, func(t *testing.T) { p.all(t, s, seed, &sum) })
				}
			}
			t.Logf("totals: %d kills, %d not reached, %d leaks repaired", sum.kills, sum.missed, sum.leaked)
		})
	}
}

func chosen(name string) bool {
	names := os.Getenv("WAYMARK_KILLED")
	return names == "" || slices.Contains(strings.Split(names, ","), name)
}

// totals are what a campaign has done.
type totals struct{ kills, missed, leaked int }

func build(t *testing.T) *programs {
	dir := t.TempDir()
	p := &programs{waymark: filepath.Join(dir, "waymark"), linked: filepath.Join(dir, "linked"), plain: gobuild.Build(t, gobuild.Config{}, "testdata/target")}
	if out, err := exec.Command("go", "build", "-o", p.waymark, "../../../cmd/waymark").CombinedOutput(); err != nil {
		t.Fatalf("building waymark: %v\n%s", err, out)
	}
	if _, err := link.File(p.plain, p.linked, link.Options{}); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.sites, err = sdt.Open(p.linked); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a scenario once, and returns what the driver saw.
func (p *programs) run(t *testing.T, s *scenario, at *moment, sum *totals) *run {
	t.Helper()
	c := p.begin(t)
	if s.prepare != nil {
		s.prepare(c)
	}
	output, err := os.Create(c.path("output"))
	c.must(err)
	defer output.Close()
	r, err := drive(at, append([]string{p.waymark}, s.args(c)...), c.env, c.dir, output)
	c.must(err)
	c.check(s)
	switch {
	case !r.killed && r.status.ExitStatus() != 0:
		t.Errorf("not killed it ended with %v", r.status)
	case r.killed:
		sum.kills++
	default:
		sum.missed++
	}
	if c.leaked > 0 {
		sum.leaked++
	}
	if t.Failed() {
		said, _ := os.ReadFile(c.path("output"))
		t.Logf("waymark %q, %v, said\n%s", s.args(c), at, said)
	}
	return r
}

// moments returns every moment at which a run can be killed.
func (p *programs) moments(t *testing.T, s *scenario, random *rand.Rand) (all []*moment) {
	t.Helper()
	var counts map[string]int
	t.Run("whole", func(t *testing.T) { counts = p.run(t, s, nil, &totals{}).counts })
	for kind, n := range counts {
		for i := range n {
			for _, exit := range []bool{false, true} {
				all = append(all, &moment{kind: kind, n: i + 1, exit: exit})
			}
		}
	}
	slices.SortFunc(all, func(a, b *moment) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.n, b.n)) })
	for _, m := range all {
		m.all = random.IntN(2) == 0
	}
	t.Logf("calls: %v", counts)
	return all
}

func (p *programs) all(t *testing.T, s *scenario, seed uint64, sum *totals) {
	for _, at := range p.moments(t, s, rand.New(rand.NewPCG(seed, 0))) {
		t.Run(fmt.Sprintf("%s-%d-%v", at.kind, at.n, map[bool]string{false: "before", true: "after"}[at.exit]), func(t *testing.T) { p.run(t, s, at, sum) })
	}
}

// sample kills at moments that the seed chooses, in each scenario in turn.
func (p *programs) sample(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	var sum totals
	known := map[*scenario][]*moment{}
	for end := time.Now().Add(sampleTime); time.Now().Before(end); {
		s := &scenarios[random.IntN(len(scenarios))]
		if known[s] == nil {
			known[s] = p.moments(t, s, random)
		}
		at := known[s][random.IntN(len(known[s]))]
		if !t.Run(s.name, func(t *testing.T) { t.Log(at); p.run(t, s, at, &sum) }) {
			return
		}
	}
	t.Logf("%d kills, %d not reached, %d leaks repaired", sum.kills, sum.missed, sum.leaked)
}

package peer

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// Seed returns the seed of a random test and logs it: another one in each run, unless WAYMARK_SEED gives it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	return FixedSeed(t, rand.Uint64())
}

// FixedSeed is Seed for a test that does the same in each run, with this seed, unless WAYMARK_SEED gives another.
func FixedSeed(t testing.TB, seed uint64) uint64 {
	t.Helper()
	if s := os.Getenv("WAYMARK_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 0, 64); err != nil {
			t.Fatalf("WAYMARK_SEED: %v", err)
		}
	}
	t.Logf("WAYMARK_SEED=%d", seed)
	return seed
}

// Random returns random numbers for several goroutines, with a seed that is logged. Where their order must not
// synchronize goroutines, each needs a generator of its own.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(&locked{source: rand.NewPCG(Seed(t), 0)})
}

type locked struct {
	mu     sync.Mutex
	source rand.Source
}

func (l *locked) Uint64() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Uint64()
}

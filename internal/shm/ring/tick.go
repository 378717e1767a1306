package ring

import (
	"os"
	"strings"
	"sync"

	"github.com/waymark-trace/waymark/internal/clock"
)

// tick adds to the converter what the clocks say now, where they are those that the program
// stamps with, and what the program noted of them. The first pairs are close together, for a rate is wanted soon,
// later ones a tenth of a second.
func (r *Reader) tick() {
	if r.guard(func() error { r.readPairs(); return nil }) != nil {
		return
	}
	if r.info.BootID == "" || r.info.BootID != BootID() {
		return
	}
	now, ok := clock.Now(clock.Monotonic)
	if !ok || int64(now) < r.nextPair {
		return
	}
	p, ok := clock.Read(r.info.Clock)
	if !ok {
		return
	}
	r.converter.Add(p)
	if r.firstPair == 0 {
		r.firstPair = p.Monotonic
	}
	const least, most = 1e6, 1e8
	r.nextPair = p.Monotonic + min(max((p.Monotonic-r.firstPair)/4, least), most)
}

// Monotonic converts ticks of the program's clock to nanoseconds of CLOCK_MONOTONIC, and Wall is what to add
// for nanoseconds since 1970.
func (r *Reader) Monotonic(ticks uint64) int64 { return r.converter.Monotonic(ticks) }
func (r *Reader) Wall() int64                  { return r.converter.Wall() }

// BootID returns the kernel's name of this boot, "" where there is none: counters of one boot
// say nothing about another.
var BootID = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
})

package clock

import (
	"os"
	"slices"
	"strings"
)

const counter = TSC

// count reads the time stamp counter.
func count() uint64

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// trusted reports whether the counter runs at one rate always (AMD64 manual volume 3, appendix E.4.7;
// Intel SDM volume 3, 18.17.1: "invariant TSC") and the kernel found the processors' counters alike.
func trusted() bool {
	const powerManagement, invariant = 0x80000007, 1 << 8
	if last, _, _, _ := cpuid(0x80000000, 0); last < powerManagement {
		return false
	}
	if _, _, _, d := cpuid(powerManagement, 0); d&invariant == 0 {
		return false
	}
	sources, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/available_clocksource")
	return err == nil && slices.Contains(strings.Fields(string(sources)), "tsc")
}

package histogram

import "math/bits"

// Durations are counted in log-linear buckets: below 64 each number has its own, above each power
// of two is divided into 32 of equal width. A bucket is at most a 32nd as wide as its lowest
// number, so its middle is within a 64th, 1.6 %, of all its numbers.
const (
	// SubBits is the binary logarithm of the number of buckets that a power of two is divided into.
	SubBits = 5
	// Size is the number of buckets for all 64-bit numbers.
	Size = (64-SubBits)<<SubBits + 1<<SubBits
)

// Index returns the bucket of a number. The eBPF program of latencies does the same.
func Index(n uint64) int {
	shift := max(bits.Len64(n)-SubBits-1, 0)
	return shift<<SubBits + int(n>>shift)
}

// Range returns the lowest number of a bucket, and how many numbers it has.
func Range(i int) (low, width uint64) {
	if i < 2<<SubBits {
		return uint64(i), 1
	}
	shift := i>>SubBits - 1
	return uint64(i-shift<<SubBits) << shift, 1 << shift
}

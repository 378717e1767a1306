package histogram

import "math/bits"

// Durations are counted in log-linear buckets. Each number below 64 has its own bucket. Each power
// of two above is divided into 32 buckets of equal width. A bucket is at most 1/32 as wide as its
// lowest number, so its middle is within 1/64 (1.6 %) of all its numbers.
const (
	// SubBits is the binary logarithm of the number of buckets in a power of two.
	SubBits = 5
	// Size is the number of buckets for all 64-bit numbers.
	Size = (64-SubBits)<<SubBits + 1<<SubBits
)

// Index returns the bucket of a number. The eBPF program for latencies computes the same index.
func Index(n uint64) int {
	shift := max(bits.Len64(n)-SubBits-1, 0)
	return shift<<SubBits + int(n>>shift)
}

// Range returns the lowest number in a bucket, and the bucket's width.
func Range(i int) (low, width uint64) {
	if i < 2<<SubBits {
		return uint64(i), 1
	}
	shift := i>>SubBits - 1
	return uint64(i-shift<<SubBits) << shift, 1 << shift
}

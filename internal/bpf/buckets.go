package bpf

import "math/bits"

// Durations are counted in log-linear buckets, as HdrHistogram's: below 64 each number has its
// own, above each power of two is divided into 32 of equal width. A bucket is at most a 32nd
// as wide as its lowest number, so its middle is within a 64th, 1.6 %, of all its numbers.
const (
	subBits = 5
	// Buckets is how many there are for all 64-bit numbers.
	Buckets = (64-subBits)<<subBits + 1<<subBits
)

// Bucket returns the bucket of a number. The eBPF program of latencies does the same.
func Bucket(n uint64) int {
	shift := max(bits.Len64(n)-subBits-1, 0)
	return shift<<subBits + int(n>>shift)
}

// BucketRange returns the lowest number of a bucket, and how many it has.
func BucketRange(i int) (low, width uint64) {
	if i < 2<<subBits {
		return uint64(i), 1
	}
	shift := i>>subBits - 1
	return uint64(i-shift<<subBits) << shift, 1 << shift
}

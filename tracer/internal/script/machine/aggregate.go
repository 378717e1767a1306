package machine

import (
	"math/bits"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// Aggregate is the state of one aggregation.
type Aggregate struct {
	Count   uint64 // of the values
	Total   uint64 // of sum, avg and stats
	Extreme uint64 // of min and max
	Buckets []uint64
	Series  map[int64]*Aggregate // of tseries, by the number of the interval
}

// Add takes a value in. now is the time of the hit, for tseries.
func (a *Aggregate) Add(t *ir.Type, v uint64, now int64) {
	a.Count++
	switch t.Agg {
	case ir.Sum, ir.Avg, ir.Stats:
		a.Total += v
	case ir.Min, ir.Max:
		op := ir.Less
		if t.Agg == ir.Max {
			op = ir.Greater
		}
		if a.Count == 1 || ir.Compare(op, t.Signed, v, a.Extreme) {
			a.Extreme = v
		}
	case ir.Hist:
		a.bucket(histBucket(v, uint(t.Params[0])))
	case ir.LHist:
		a.bucket(linearBucket(int64(v), t.Params))
	case ir.TSeries:
		a.sample(t, v, now)
	}
}

func (a *Aggregate) bucket(i int) {
	for len(a.Buckets) <= i {
		a.Buckets = append(a.Buckets, 0)
	}
	a.Buckets[i]++
}

// histBucket returns the bucket of a value. Bucket 0 has the negative values; then come the values below 2^k, one a bucket, and
// after these 2^k buckets for each power of two.
func histBucket(v uint64, k uint) int {
	if int64(v) < 0 {
		return 0
	}
	if v < 1<<k {
		return 1 + int(v)
	}
	shift := uint(bits.Len64(v)) - 1 - k
	return 1 + int(shift+1)<<k + int(v>>shift&(1<<k-1))
}

// histLow returns the smallest value of a bucket above 0.
func histLow(bucket int, k uint) uint64 {
	i := uint64(bucket - 1)
	if i < 1<<k {
		return i
	}
	shift := uint(i>>k) - 1
	return (1<<k + i&(1<<k-1)) << shift
}

// linearBucket returns the bucket of lhist: 0 below the range, the last one at and above its end.
func linearBucket(v int64, params [3]int64) int {
	low, high, step := params[0], params[1], params[2]
	switch {
	case v < low:
		return 0
	case v > high:
		return int(1 + (high-low)/step)
	}
	return int(1 + (v-low)/step)
}

// Number returns the value of an aggregation of one number.
func (a *Aggregate) Number(t *ir.Type) uint64 {
	switch t.Agg {
	case ir.Count:
		return a.Count
	case ir.Sum:
		return a.Total
	case ir.Avg, ir.Stats:
		if a.Count == 0 {
			return 0
		}
		v, _ := ir.Arith(ir.Div, t.Signed, a.Total, a.Count)
		return v
	}
	return a.Extreme
}

// Percentile returns the largest value of the bucket in which a percentage of all values ends, 0 without values.
func (a *Aggregate) Percentile(t *ir.Type, percent int64) int64 {
	if a.Count == 0 {
		return 0
	}
	high, low := bits.Mul64(a.Count, uint64(percent))
	rank, rest := bits.Div64(high, low, 100)
	if rest > 0 || rank == 0 {
		rank++
	}
	for i, n := range a.Buckets {
		if n >= rank {
			return bucketMax(t, i)
		}
		rank -= n
	}
	return 0
}

// bucketMax returns the largest value of a bucket; of the last bucket of lhist, which has none, the end of the range.
func bucketMax(t *ir.Type, i int) int64 {
	if t.Agg == ir.LHist {
		low, high, step := t.Params[0], t.Params[1], t.Params[2]
		return min(low+int64(i)*step-1, high)
	}
	if i == 0 {
		return -1
	}
	return int64(histLow(i+1, uint(t.Params[0])) - 1)
}

// Functions of tseries, by their number in Type.Params.
const (
	seriesLast = iota
	seriesAvg
	seriesMax
	seriesMin
	seriesSum
)

// sample takes a value into the interval of a time, and forgets intervals that are too old to print.
func (a *Aggregate) sample(t *ir.Type, v uint64, now int64) {
	if a.Series == nil {
		a.Series = map[int64]*Aggregate{}
	}
	at := now / t.Params[0]
	s := a.Series[at]
	if s == nil {
		s = &Aggregate{}
		a.Series[at] = s
		for old := range a.Series {
			if old <= at-t.Params[1] {
				delete(a.Series, old)
			}
		}
	}
	function := ir.Type{Base: ir.Agg, Signed: t.Signed}
	switch t.Params[2] {
	case seriesLast:
		s.Total, s.Count = v, 1
		return
	case seriesMax:
		function.Agg = ir.Max
	case seriesMin:
		function.Agg = ir.Min
	default:
		function.Agg = ir.Sum
	}
	s.Add(&function, v, now)
}

// seriesValue returns the value of an interval.
func (a *Aggregate) seriesValue(t *ir.Type) uint64 {
	function := ir.Type{Base: ir.Agg, Agg: ir.Sum, Signed: t.Signed}
	switch t.Params[2] {
	case seriesAvg:
		function.Agg = ir.Avg
	case seriesMax, seriesMin:
		function.Agg = ir.Max
	}
	return a.Number(&function)
}

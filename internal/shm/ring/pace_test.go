package ring

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	const capacity = 8 << 20
	for _, rate := range []float64{0, 1e3, 1e6, 1e8, 1e10} { // bytes a second
		var p Pace
		filled, most := 0.0, 0.0
		var slept, looks time.Duration
		for slept < time.Second {
			nap := p.Next(filled)
			if nap < leastNap || nap > mostNap {
				t.Fatalf("%g bytes a second: a nap of %v", rate, nap)
			}
			filled = min(rate*nap.Seconds()/capacity, 1)
			slept, looks = slept+nap, looks+1
			if slept > time.Second/2 {
				most = max(most, filled)
			}
		}
		if rate < 1e9 && most > 1.0/4 {
			t.Errorf("%g bytes a second: %g of the ring filled between two looks", rate, most)
		}
		if rate <= 1e6 && looks > 30 {
			t.Errorf("%g bytes a second: %d looks in a second", rate, looks)
		}
	}
}

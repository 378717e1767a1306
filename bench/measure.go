package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// loop is a loop of a subject, timed in rounds.
type loop struct {
	name string
	in   *subject
	loop string // how the subject calls it
	to   string // the name of the loop that it is compared with
	over string // a loop without what is measured: what this one adds to it is a result of its own

	both   bool   // on two threads at once
	during string // what the subject arms before each time, and disarms
	allocs bool   // counts allocations
	slow   bool   // takes much longer than it counts

	passes int
	times  []float64   // nanoseconds of one pass, of each round: the mean of the loop's copies
	places [][]float64 // the same of each copy
}

// copyTime is how long each copy of a loop runs in one round: long against the clock, short against
// the scheduler's tick and changes of the machine's speed. What has one copy runs longer.
const (
	copyTime = 40 * time.Microsecond
	loneTime = 500 * time.Microsecond
)

// once returns the nanoseconds of one of n passes, for each of the loop's copies.
func (l *loop) once(n int) ([]float64, error) {
	if l.during != "" {
		if err := l.in.do("arm " + l.during); err != nil {
			return nil, err
		}
		defer l.in.do("disarm " + l.during)
	}
	word := "time"
	if l.both {
		word = "both"
	}
	times, err := l.in.numbers(fmt.Sprintf("%s %s %d", word, l.loop, n))
	for i := range times {
		times[i] /= float64(n)
	}
	return times, err
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, t := range v {
		sum += t
	}
	return sum / float64(len(v))
}

// calibrate finds a number of passes that takes about as long as a round is to take. What is slow for
// once, as the first hit of a uprobe is, does not count.
func (l *loop) calibrate(c config) error {
	for n := 1; ; n *= 2 {
		pass, copies := math.Inf(1), 0
		for range 3 {
			times, err := l.once(n)
			if err != nil {
				return err
			}
			pass, copies = min(pass, mean(times)), len(times)
		}
		want := float64(c.roundTime(loneTime))
		if copies > 1 {
			want = float64(c.roundTime(copyTime))
		}
		if l.slow {
			want /= 10
		}
		if took := pass * float64(n); took >= want/4 {
			l.passes = max(1, int(want/pass))
			return nil
		}
	}
}

// interleave times every loop once a round.
func interleave(c config, rounds int, loops []*loop) error {
	for _, l := range loops {
		if err := l.calibrate(c); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	for range c.roundsOr(rounds) {
		for _, l := range loops {
			times, err := l.once(l.passes)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			l.times = append(l.times, mean(times))
			l.places = append(l.places, times)
		}
	}
	return nil
}

// results are medians of rounds, and of what differs from round to round of two loops.
func results(loops []*loop) (all []result, err error) {
	byName := make(map[string]*loop)
	for _, l := range loops {
		byName[l.name] = l
		r := spread(l.name, l.times, "ns")
		if base := byName[l.to]; base != nil {
			r.RatioTo, r.Ratio = l.to, round(median(divide(l.times, base.times)))
			if len(l.places[0]) > 1 && len(base.places[0]) > 1 {
				places, basePlaces := l.relative(base), base.relative(base)
				r.Ratio = round(mean(places) / mean(basePlaces))
				r.Place = round(median(places) / median(basePlaces))
			}
		}
		all = append(all, r)
		if base := byName[l.over]; base != nil {
			added := spread(l.name+", "+addedColumn, subtract(l.times, base.times), "ns")
			added.more = addedColumn
			all = append(all, added)
		}
		if l.allocs {
			r, e := l.countAllocs()
			all, err = append(all, r), errors.Join(err, e)
		}
	}
	return all, err
}

// relative returns for each of the copies the median of its rounds, each as a multiple of what the median copy
// of the loop to which it is compared took in the same round: the machine's speed is the same for both, and what
// interrupts one copy in one round does not count.
func (l *loop) relative(base *loop) []float64 {
	places := make([]float64, len(l.places[0]))
	for i := range places {
		var rounds []float64
		for r, times := range l.places[:min(len(l.places), len(base.places))] {
			rounds = append(rounds, times[i]/median(base.places[r]))
		}
		places[i] = median(rounds)
	}
	return places
}

// addedColumn is what one pass adds to the same loop without it.
const addedColumn = "added"

// countAllocs returns the allocations of one pass, to a hundredth: the runtime's own count
// among them.
func (l *loop) countAllocs() (result, error) {
	const n = 10_000
	if l.during != "" {
		if err := l.in.do("arm " + l.during); err != nil {
			return result{}, err
		}
		defer l.in.do("disarm " + l.during)
	}
	count, err := l.in.numbers(fmt.Sprintf("allocs %s %d", l.loop, n))
	if err != nil {
		return result{}, err
	}
	hundredths := (int(count[0]) + n/200) / (n / 100)
	return further(l.name, "allocations", float64(hundredths)/100, "allocs"), nil
}

// divide and subtract take what belongs to one round together: the machine's speed is the same for both.
func divide(v, by []float64) []float64 {
	var all []float64
	for i := range min(len(v), len(by)) {
		all = append(all, v[i]/by[i])
	}
	return all
}

func subtract(v, from []float64) []float64 {
	var all []float64
	for i := range min(len(v), len(from)) {
		all = append(all, v[i]-from[i])
	}
	return all
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// quartiles returns the values that a quarter of them do not reach, and that a quarter exceed.
func quartiles(v []float64) (low, high float64) {
	if len(v) == 0 {
		return 0, 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/4], s[len(s)*3/4]
}

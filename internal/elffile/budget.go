package elffile

import (
	"fmt"
	"math"
)

// The budget of one file: the bytes that may be taken into memory of it, or mapped, by all its
// readers together. A small file can hold much once it is uncompressed, and a sparse one claim
// gigabytes of zeros, so the budget grows with the bytes that the file really holds.
const (
	budgetBase  = 64 << 20 // of a file of any size
	budgetTimes = 16       // and this often what it holds; debugging information compresses to a third
	budgetMost  = 2 << 30
)

// A LimitError is the error of a file that needs more than its budget.
type LimitError struct {
	What string // what did not fit
	Need uint64 // bytes that it needs
	Used uint64 // bytes that were used before
	Max  uint64 // the budget
	Held uint64 // bytes that the file holds, which the budget depends on
	Cap  uint64 // the largest budget of any file
}

func (e *LimitError) Error() string {
	used := ""
	if e.Used > 0 {
		used = fmt.Sprintf(", of which %d are used", e.Used)
	}
	return fmt.Sprintf("%s of %d bytes is over the limit for this file of %d bytes%s: %d MiB and %d times the %d bytes that it holds, at most %d MiB",
		e.What, e.Need, e.Max, used, budgetBase>>20, budgetTimes, e.Held, e.Cap>>20)
}

type budget struct {
	held, most, used uint64
}

// budgetOf returns the budget of a file of a size, of which so many bytes are not in holes. The size of
// what is in memory is both.
func budgetOf(size, held int64) budget {
	h := uint64(max(min(size, held), 0))
	return budget{held: h, most: min(grown(h), budgetMost)}
}

// grown returns the budget of a file that holds so many bytes, without the limit for all files.
func grown(held uint64) uint64 {
	return budgetBase + budgetTimes*min(held, math.MaxInt64/budgetTimes/2)
}

// check returns an error unless so many bytes are left.
func (b *budget) check(what string, n uint64) error {
	if n > b.most-b.used {
		return &LimitError{What: what, Need: n, Used: b.used, Max: b.most, Held: b.held, Cap: budgetMost}
	}
	return nil
}

func (b *budget) take(what string, n uint64) error {
	err := b.check(what, n)
	if err == nil {
		b.used += n
	}
	return err
}

func (b *budget) give(n uint64) { b.used -= n }

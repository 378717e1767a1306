package elffile

import (
	"fmt"
	"math"
)

// The budget of a file limits how many of its bytes all readers together load or map. A small file
// can be large when uncompressed, and a sparse file can claim gigabytes of zeros. So the budget
// grows with the bytes that the file stores on disk.
const (
	budgetBase  = 64 << 20 // for a file of any size
	budgetTimes = 16       // per byte stored; debugging information compresses to a third
	budgetMost  = 2 << 30
)

// LimitError reports that reading a file needs more memory than the file's budget.
type LimitError struct {
	What string // the object that did not fit
	Need uint64 // bytes that the object needs
	Used uint64 // bytes in use already
	Max  uint64 // the budget
	Held uint64 // bytes stored in the file; they determine the budget
	Cap  uint64 // the largest budget of any file
}

func (e *LimitError) Error() string {
	used := ""
	if e.Used > 0 {
		used = fmt.Sprintf(", %d of them in use", e.Used)
	}
	return fmt.Sprintf("%s of %d bytes is over the limit for this file of %d bytes%s: %d MiB and %d times the %d bytes that it holds, at most %d MiB",
		e.What, e.Need, e.Max, used, budgetBase>>20, budgetTimes, e.Held, e.Cap>>20)
}

type budget struct {
	held, most, used uint64
}

// budgetOf returns the budget of a file with size bytes, held of them outside holes. The two are
// equal for an image in memory.
func budgetOf(size, held int64) budget {
	h := uint64(max(min(size, held), 0))
	return budget{held: h, most: min(grown(h), budgetMost)}
}

// grown returns the budget of a file that stores held bytes, before the limit for all files.
func grown(held uint64) uint64 {
	return budgetBase + budgetTimes*min(held, math.MaxInt64/budgetTimes/2)
}

// check returns an error unless n bytes are left.
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

package agent

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// budget limits how much of the program's processor time all clients together can use: one part in
// share, with some saved for the beginning. A client that spends more waits.
type budget struct {
	share time.Duration
	mu    sync.Mutex
	left  time.Duration
	at    time.Time
}

// Requests and accepting have budgets of their own, together a twentieth of the time: a new
// client is greeted at once, whatever the others have spent.
const (
	requestShare = 25
	acceptShare  = 100
	budgetSaved  = 500 * time.Millisecond
)

// spend takes d out of the budget and returns how long the spender has to wait.
func (b *budget) spend(now time.Time, d time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.left = budgetSaved
	} else {
		b.left = min(b.left+now.Sub(b.at)/b.share, budgetSaved)
	}
	b.at = now
	b.left -= d
	return max(0, -b.left*b.share)
}

// used runs do and returns its processor time. The time in which the program is stopped, or waits for
// a client that does not read, is not the client's.
func used(do func() error) (time.Duration, error) {
	runtime.LockOSThread() // the clock's owner
	defer runtime.UnlockOSThread()
	began := threadTime()
	err := do()
	return threadTime() - began, err
}

func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}

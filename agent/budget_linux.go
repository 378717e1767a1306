package agent

import (
	"sync"
	"time"
)

// budget limits how much of the program's time all clients together can use: a share of it, with some
// saved for the beginning. Who spends more waits.
type budget struct {
	mu   sync.Mutex
	left time.Duration
	at   time.Time
}

const (
	budgetShare = 20 // one twentieth
	budgetSaved = 500 * time.Millisecond
)

// spend takes d out of the budget and waits until it is not overdrawn.
func (b *budget) spend(d time.Duration) {
	if wait := b.take(time.Now(), d); wait > 0 {
		time.Sleep(wait)
	}
}

// take returns how long whoever spends d has to wait.
func (b *budget) take(now time.Time, d time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.left = budgetSaved
	} else {
		b.left = min(b.left+now.Sub(b.at)/budgetShare, budgetSaved)
	}
	b.at = now
	b.left -= d
	return max(0, -b.left*budgetShare)
}

//go:build (!amd64 && !arm64) || (amd64 && race)

package ring

import "sync/atomic"

// publish stores a word for readers in other processes, after everything that was stored before.
//
//go:norace
func publish(word *uint64, value uint64) { atomic.StoreUint64(word, value) }

// fence orders what was published before what is stored next, which a store does not. An exchange is
// ordered both ways.
func fence() { atomic.SwapUint64(&anything, 0) }

var anything uint64

// count counts an event that was written. Others read the count while it changes.
//
//go:norace
func (w *Writer) count() { atomic.StoreUint64(&w.events, w.events+1) }

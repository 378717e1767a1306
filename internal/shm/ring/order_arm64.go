package ring

import "sync/atomic"

// publish stores a word for readers in other processes, after everything that was stored before.
//
//go:norace
func publish(word *uint64, value uint64) { atomic.StoreUint64(word, value) }

// fence orders what was published before what is stored next, and what was loaded before what is
// loaded next, which a store and a load do not: DMB ISH.
func fence()

// count counts an event that was written. Others read the count while it changes.
//
//go:norace
func (w *Writer) count() { atomic.StoreUint64(&w.events, w.events+1) }

//go:build !race

package ring

// publish stores a word for readers in other processes. x86-64 keeps stores in order, and so
// does the compiler.
func publish(word *uint64, value uint64) { *word = value }

// fence orders what was published before what is stored next: nothing to add, as above.
func fence() {}

// count counts an event that was written. Others read the count while it changes.
func (w *Writer) count() { w.events++ }

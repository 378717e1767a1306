package join

import (
	"hash/maphash"
	"sync"
)

// MaxOpen is the number of begins that a table keeps. Otherwise begins without an end would fill the
// memory.
const MaxOpen = 1 << 17

const shards = 64 // so that goroutines rarely wait for each other

// Table keeps open begins by key. Many goroutines may use it at once; in a steady state it allocates
// nothing.
type Table[V any] struct {
	seed   maphash.Seed
	shards [shards]shard[V]
}

type shard[V any] struct {
	mu   sync.Mutex
	open map[Key]V
	_    [64 - 16]byte // no two locks on one cache line
}

// NewTable returns an empty table.
func NewTable[V any]() *Table[V] {
	t := &Table[V]{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].open = map[Key]V{}
	}
	return t
}

func (t *Table[V]) shard(k Key) *shard[V] {
	h := k.number * 0x9e3779b97f4a7c15 >> 32 // goroutines, ids and addresses differ in low bits
	if k.text != "" {
		h = maphash.String(t.seed, k.text)
	}
	return &t.shards[h%shards]
}

// Put keeps v until it is taken. A value with the same key gives way; in a full table some other
// one does, so that begins without an end cannot lock out the others. Put reports whether a value was lost that way.
func (t *Table[V]) Put(k Key, v V) (lost bool) {
	s := t.shard(k)
	s.mu.Lock()
	before := len(s.open)
	s.open[k] = v
	lost = len(s.open) == before
	if len(s.open) > MaxOpen/shards {
		for old := range s.open { // starts anywhere
			if old != k {
				delete(s.open, old)
				lost = true
				break
			}
		}
	}
	s.mu.Unlock()
	return lost
}

// Add is Put for values that must not give way: it reports false where Put would lose one.
func (t *Table[V]) Add(k Key, v V) bool {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[k]; ok || len(s.open) == MaxOpen/shards {
		return false
	}
	s.open[k] = v
	return true
}

// Take removes the value of a key and returns it.
func (t *Table[V]) Take(k Key) (v V, ok bool) {
	s := t.shard(k)
	s.mu.Lock()
	if v, ok = s.open[k]; ok {
		delete(s.open, k)
	}
	s.mu.Unlock()
	return v, ok
}

// Get returns the value of a key.
func (t *Table[V]) Get(k Key) (v V, ok bool) {
	s := t.shard(k)
	s.mu.Lock()
	v, ok = s.open[k]
	s.mu.Unlock()
	return v, ok
}

// Len returns the number of values, exactly if no goroutine changes the table meanwhile.
func (t *Table[V]) Len() (n int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += len(s.open)
		s.mu.Unlock()
	}
	return n
}

// ClearIf empties the table while cond holds, which is called while no goroutine can add.
func (t *Table[V]) ClearIf(cond func() bool) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		if cond() {
			clear(s.open)
		}
		s.mu.Unlock()
	}
}

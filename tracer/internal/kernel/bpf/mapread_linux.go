package bpf

import (
	"errors"
	"reflect"

	"github.com/cilium/ebpf"
)

// readBatch is how many elements a system call returns: more than share a bucket of the
// kernel's hash table, which comes whole or not at all.
const readBatch = 4096

// mapReader reads per-CPU hash maps of numbers. It keeps its buffers.
type mapReader struct {
	keys   reflect.Value // [readBatch][size]byte
	values []uint64
	single bool // the kernel has no batches: before Linux 5.6
}

// read calls each for every element, with the sum of its numbers.
func (r *mapReader) read(m *ebpf.Map, each func(key []byte, n uint64)) error {
	if !r.single {
		err := r.batches(m, each)
		if !errors.Is(err, ebpf.ErrNotSupported) {
			return err
		}
		r.single = true
	}
	key := make([]byte, m.KeySize())
	all := m.Iterate()
	for all.Next(&key, &r.values) {
		each(key, total(r.values))
	}
	return all.Err()
}

func (r *mapReader) batches(m *ebpf.Map, each func(key []byte, n uint64)) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	if !r.keys.IsValid() {
		// The library wants to know the size of a key from its type.
		key := reflect.ArrayOf(int(m.KeySize()), reflect.TypeFor[byte]())
		n := min(readBatch, int(m.MaxEntries()))
		r.keys = reflect.MakeSlice(reflect.SliceOf(key), n, n)
		r.values = make([]uint64, n*cpus)
	}
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookup(&cursor, r.keys.Interface(), r.values, nil)
		last := errors.Is(err, ebpf.ErrKeyNotExist)
		if err != nil && !last {
			return err
		}
		for i := range n {
			each(r.keys.Index(i).Bytes(), total(r.values[i*cpus:(i+1)*cpus]))
		}
		if last {
			return nil
		}
	}
}

func total(perCPU []uint64) (n uint64) {
	for _, v := range perCPU {
		n += v
	}
	return n
}

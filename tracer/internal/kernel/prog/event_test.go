package prog

import "testing"

// FuzzRaw reads arbitrary bytes as an event, for plans of every sort.
func FuzzRaw(f *testing.F) {
	f.Add(make([]byte, offBody), 0, 0, uint64(0))
	f.Add(make([]byte, offBody+24+64), 1, 8, uint64(40))
	f.Add([]byte("short"), 3, 16, uint64(1<<63))
	records, err := RecordPlan(48, []int{0, 16, 32}, 152)
	if err != nil {
		f.Fatal(err)
	}
	plans := []*Plan{records, {Goid: -1, Values: make([]Value, 5)}}
	f.Fuzz(func(t *testing.T, b []byte, i, at int, n uint64) {
		var r Raw
		if r.Decode(b) != nil {
			return
		}
		for _, p := range plans {
			if text, ok := r.Text(p, i, n); ok && uint64(len(text)) > n {
				t.Errorf("text of %d bytes, asked for %d", len(text), n)
			}
		}
		r.Value(i)
		r.ValueFailed(i & 63)
		for _, size := range []int{1, 2, 4, 8, 16, 24} {
			if v, ok := r.Field(at, size); ok && len(v) != size {
				t.Errorf("field of %d bytes, want %d", len(v), size)
			}
		}
	})
}

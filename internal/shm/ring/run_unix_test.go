//go:build unix

package ring

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/clock"
)

// randomRing returns a file of one ring, of sub-buffers of several chunks, with random records of
// events of 0, 16 and 2048 bytes, and texts.
func randomRing(t testing.TB, mode Mode, seed uint64) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "random.ring")
	f, err := Create(path, Options{Info: Info{Session: "random", Mode: mode, Clock: clock.Monotonic}, Rings: 1, Size: 4 * 3 * chunk, SubBuffers: 2, Table: 1024})
	if err != nil {
		t.Skip(err) // a platform without files of rings
	}
	defer f.Close()
	sizes := []uint64{0, 16, 2048}
	for i, size := range sizes {
		e := &Event{Point: event.Declared(fmt.Sprint("a:b", i), ""), Size: int(size)}
		if size > 0 {
			e.Fields = []event.Field{{Name: "n", Type: "int64", Kind: event.Int64, Size: 8}}
		}
		if _, err := f.Define(e); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	w, ticks, goroutine := &f.Writers()[0], uint64(1000), uint64(1)
	for range 12_000 {
		event := r.IntN(len(sizes)) * r.IntN(2) * r.IntN(2)
		size := RecordHeader + sizes[event] + 8*uint64(r.IntN(3)*r.IntN(2))
		if ticks += r.Uint64N(1000); r.IntN(500) == 0 {
			ticks += 1 << timeBits
		}
		if r.IntN(8) == 0 {
			goroutine = r.Uint64()
		}
		since := w.Since(ticks)
		if !w.Fits(size, since, goroutine) {
			if !w.Begin(size, ticks, goroutine) {
				continue
			}
			since = 0
		}
		at := w.at & w.mask
		b := f.memory[f.g.dataAt(0)+at:][:size]
		binary.NativeEndian.PutUint64(b, HeaderOf(event, size)|since)
		for i := RecordHeader; i < len(b); i += 8 {
			binary.NativeEndian.PutUint64(b[i:], r.Uint64())
		}
		w.Commit(size)
	}
	f.End()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// slowly decodes a ring word by word as the format describes it. It returns a line for each record,
// and whether the ring is whole. It is the reference for decode, which reads many records at once.
func slowly(r *Reader) (lines []string, whole bool) {
	c, g := &r.cursors[0], &r.g
	head, at := c.control.head, c.floor(g)
	if head%8 != 0 || head > 1<<62 || at%g.sub != 0 || at > head || head-at > g.ringSize() {
		return nil, false
	}
	word := func(at uint64) uint64 { return order.Uint64(c.data[at&(g.ringSize()-1):]) }
	count, first := uint64(0), true
	for at < head {
		end, limit := min(at+g.sub, head), at+g.sub
		if end-at < subHeaderSize || word(at) != at || !first && word(at+8) < count || word(at+8) > 1<<62 {
			return lines, false
		}
		first = false
		ticks, goroutine := word(at+24), word(at+32)
		count = word(at + 8)
		for at += subHeaderSize; at < end; {
			w := word(at)
			number, size := w>>48, w>>32&0xffff*8
			if size == 0 || size > end-at {
				return lines, false
			}
			switch {
			case number < uint64(len(r.events)):
				if size < 8+uint64(r.events[number].Size) {
					return lines, false
				}
				if at >= c.skip {
					line := fmt.Sprintf("%d %s %d %d", count, r.events[number].FullName(), r.Monotonic(ticks+w&math.MaxUint32), goroutine)
					for i := uint64(8); i < size; i += 8 {
						line += fmt.Sprintf(" %x", word(at+i))
					}
					lines = append(lines, line)
				}
				count++
				at += size
			case number == padding && size == 8:
				at = end
			case number == newContext && size == contextSize:
				ticks, goroutine = word(at+8), word(at+16)
				at += size
			default:
				return lines, false
			}
		}
		if at < head && at != limit {
			return lines, false
		}
	}
	return lines, true
}

// FuzzRun compares runs and single records of changed files with the result of slowly.
func FuzzRun(f *testing.F) {
	samples := [][]byte{randomRing(f, Discard, 1), randomRing(f, Overwrite, 2)}
	path := filepath.Join(f.TempDir(), "fuzzed.ring")
	f.Add(false, uint16(0), []byte{})
	f.Add(true, uint16(0x5555), []byte{})
	f.Add(false, uint16(0xff), binary.NativeEndian.AppendUint64([]byte{0, 0, 1, 0}, 0xfffe0003<<32|5))
	f.Add(true, uint16(0xf0), binary.NativeEndian.AppendUint64([]byte{0, 0, 1, 0}, 0xffff0001<<32))
	f.Add(false, uint16(1), binary.NativeEndian.AppendUint64([]byte{40, 0, 0, 0}, 0x00003fff<<32))
	f.Fuzz(func(t *testing.T, overwrite bool, turns uint16, changes []byte) {
		text := append([]byte{}, samples[0]...)
		if overwrite {
			text = append(text[:0], samples[1]...)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.Events(); err != nil {
			t.Fatal(err)
		}
		data := int64(r.g.dataAt(0))
		for ; len(changes) >= 12; changes = changes[12:] { // of the data alone: FuzzReader changes the rest
			at := data + int64(binary.NativeEndian.Uint32(changes))&^7%int64(r.g.ringSize())
			if _, err := file.WriteAt(changes[4:12], at); err != nil {
				t.Fatal(err)
			}
		}
		r.readPairs()
		r.converter.Add(clock.Pair{Ticks: 0, Monotonic: 0})
		r.converter.Add(clock.Pair{Ticks: 1 << 20, Monotonic: 1 << 19})
		want, whole := slowly(r)
		var got []string
		last := int64(0)
		add := func(number uint64, e *Event, monotonic int64, goroutine uint64, args []byte) {
			line := fmt.Sprintf("%d %s %d %d", number, e.FullName(), monotonic, goroutine)
			for ; len(args) > 0; args = args[8:] {
				line += fmt.Sprintf(" %x", order.Uint64(args))
			}
			if monotonic < last {
				t.Fatalf("record %d is of %d, after one of %d", len(got), monotonic, last)
			}
			last, got = monotonic, append(got, line)
		}
		for i := 0; err == nil; i++ {
			if turns>>(i%16)&1 == 0 {
				var rec *Record
				if rec, err = r.Next(0); rec == nil {
					break
				}
				add(rec.Number, rec.Event, rec.Monotonic, rec.Goroutine, rec.Args)
				continue
			}
			var run *Run
			if run, err = r.Run(0); run == nil {
				break
			}
			first := r.cursors[0].events - uint64(len(run.Heads))
			for i := range run.Heads {
				h := &run.Heads[i]
				add(first+uint64(i), run.Events[h.Event], h.Monotonic, h.Goroutine, run.Args(h))
			}
		}
		if whole != (err == nil) {
			t.Fatalf("slowly read %d records, whole: %t; the reader %d, %v", len(want), whole, len(got), err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d records, %d read slowly; %v", len(got), len(want), err)
		}
		earlier := int64(0)
		for i := range got {
			var number, goroutine uint64
			var name string
			var at int64
			fmt.Sscan(want[i], &number, &name, &at, &goroutine)
			if got[i] != want[i] && at >= earlier { // else a time went back, and the reader returns the one before
				t.Fatalf("record %d:\n%.300s\n%.300s", i, got[i], want[i])
			}
			earlier = max(earlier, at)
		}
		if position := r.Position(0); whole && position != r.cursors[0].control.head {
			t.Errorf("read up to 0x%x of 0x%x", position, r.cursors[0].control.head)
		}
	})
}

//go:build unix

package ring

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/clock"
)

// sample returns a file with some events in all of its sub-buffers, and in each mode.
func sample(t testing.TB, mode Mode) []byte {
	path := filepath.Join(t.TempDir(), "sample.ring")
	f, err := Create(path, Options{Info: Info{Session: "sample", Mode: mode, Clock: clock.Monotonic}, Rings: 2, Size: 4096, Table: 1024})
	if err != nil {
		t.Skip(err) // a platform without files of rings
	}
	defer f.Close()
	n, err := f.Define(&Event{Size: 24, Point: event.Point{Provider: "a", Name: "b", Format: "n %d s %s", Fields: []event.Field{
		{Name: "n", Type: "int64", Kind: event.Int64, Size: 8},
		{Name: "any", Type: "interface {}", Unavailable: "an interface is not recorded", Offset: 8},
		{Name: "s", Type: "string", Kind: event.String, Offset: 8, Size: event.String.SizeIn(wordSize)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for ring := range 2 {
		w := &f.Writers()[ring]
		for i := range uint64(100) {
			const size = RecordHeader + 24 + 8
			goroutine, ticks, since := i/7, i*1000, w.Since(i*1000)
			if !w.Fits(size, since, goroutine) {
				if !w.Begin(size, ticks, goroutine) {
					continue
				}
				since = 0
			}
			b := f.memory[uintptr(w.Room())-uintptr(f.at(0)):][:size]
			binary.NativeEndian.PutUint64(b, HeaderOf(n, size)|since)
			binary.NativeEndian.PutUint64(b[8:], i)
			kept := binary.NativeEndian.AppendUint64(nil, 5) // and as many there were
			if wordSize == 4 {
				kept = binary.NativeEndian.AppendUint32(nil, 5)
			}
			copy(b[16:], kept)
			copy(b[16+wordSize:], kept)
			copy(b[32:], "hello\x00\x00\x00")
			w.Commit(size)
		}
	}
	f.End()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readAll reads what there is, as far as it is believed, or a copy of it.
func readAll(t *testing.T, path string, keep bool) (events int, wrong error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Open(f)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if keep {
		wrong = r.Keep()
	}
	for i := range r.Rings() {
		for {
			rec, err := r.Next(i)
			if err != nil {
				wrong = err
				break
			}
			if rec == nil {
				break
			}
			if _, err := rec.Values(nil); err != nil {
				wrong = err
			}
			if events++; events > 1<<20 {
				t.Fatal("a file of some thousand bytes has a million events")
			}
		}
		r.Consume(i)
		r.Counts(i)
	}
	r.Lost()
	r.Ended()
	return events, wrong
}

// FuzzReader changes words of a good file: whatever it says, it is read to an end, and an error
// names it.
func FuzzReader(f *testing.F) {
	samples := [][]byte{sample(f, Discard), sample(f, Overwrite)}
	path := filepath.Join(f.TempDir(), "fuzzed.ring")
	f.Add(false, []byte{})
	f.Add(true, []byte{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	g := geometry{page: 4096, rings: 2, subs: 2, sub: 1024, table: 1024}
	for _, at := range []uint64{24, 32, 64, 96, g.tableAt(), g.controlAt(0), g.controlAt(0) + 8, g.consumedAt(1), g.dataAt(0), g.dataAt(0) + 40, g.dataAt(1) + 1024} {
		for _, v := range []uint64{0, 1, 1 << 40, 1<<64 - 1, 0xfffe0003<<32 | 5} {
			f.Add(true, binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint32(nil, uint32(at)), v))
		}
	}
	f.Fuzz(func(t *testing.T, overwrite bool, changes []byte) {
		text := append([]byte{}, samples[0]...)
		if overwrite {
			text = append(text[:0], samples[1]...)
		}
		for ; len(changes) >= 12; changes = changes[12:] {
			at := int(binary.NativeEndian.Uint32(changes)) % (len(text) - 8)
			copy(text[at:], changes[4:12])
		}
		text = text[:len(text)-len(changes)*17] // and cut off
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, keep := range []bool{false, true} {
			if _, err := readAll(t, path, keep); err != nil && !strings.Contains(err.Error(), "fuzzed.ring") && !strings.Contains(err.Error(), "field ") {
				t.Errorf("the error names no file: %v", err)
			}
		}
	})
}

func TestSample(t *testing.T) {
	for mode, want := range map[Mode]int{Discard: 100, Overwrite: 100} {
		var events [2]int
		for i, keep := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.ring")
			if err := os.WriteFile(path, sample(t, mode), 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			if events[i], err = readAll(t, path, keep); err != nil || events[i] == 0 || events[i] > 2*want {
				t.Errorf("%s, kept %t: %d events, %v", mode, keep, events[i], err)
			}
		}
		if events[0] != events[1] {
			t.Errorf("%s: %d events in the file, %d in its copy", mode, events[0], events[1])
		}
	}
}

// A file of another version is refused, with a hint.
func TestOlderVersion(t *testing.T) {
	text := sample(t, Discard)
	binary.NativeEndian.PutUint32(text[8:], version-1)
	path := filepath.Join(t.TempDir(), "old.ring")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, path, false); err == nil || !strings.Contains(err.Error(), "old.ring: it has version 2, this waymark reads version 3: rebuild the program with this waymark and record again") {
		t.Errorf("error %v", err)
	}
}

// A file that is cut short while it is read is an error, not the end of the reader.
func TestCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ring")
	if err := os.WriteFile(path, sample(t, Overwrite), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"Next":    func() error { _, err := r.Next(0); return err },
		"Consume": func() error { return r.Consume(0) },
		"Keep":    r.Keep,
		"Counts":  func() error { _, err := r.Counts(0); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

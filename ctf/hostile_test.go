package ctf_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// prefix reads a damaged trace and returns how many of the events it begins with, which are those of want, and
// the errors of its streams.
func prefix(t *testing.T, dir string, want []string) (n int, errs []error) {
	t.Helper()
	trace, err := ctf.Open(dir)
	if err != nil {
		errs = append(errs, err)
	}
	if trace == nil {
		return 0, errs
	}
	r := ctf.NewReader(trace)
	defer r.Close()
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return n, errs
		case err != nil:
			var place *ctf.Error
			if !errors.As(err, &place) || place.File == "" {
				t.Fatalf("error without a place: %v", err)
			}
			errs = append(errs, err)
			continue
		case n >= len(want) || pretty(e) != want[n]:
			t.Fatalf("event %d is %s", n, pretty(e))
		}
		n++
	}
}

// damaged returns a directory with a trace of one stream, the content of its file, and its events.
func damaged(t *testing.T) (dir string, stream []byte, events []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "trace")
	w, s, tick := oneMarker(t, dir, &ctf.Options{PacketSize: 8192})
	text, err := w.EventClass(tick.Stream, "text", &ctf.Struct{Fields: []ctf.Field{
		{Name: "length", Type: &ctf.Integer{Size: 16}},
		{Name: "data", Type: &ctf.Sequence{Length: "length", Elem: &ctf.Integer{Size: 16}}},
		{Name: "s", Type: &ctf.String{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1200) {
		err := s.Write(tick, i, nil, []ctf.Value{{Bits: i}})
		if i%3 == 0 {
			err = s.Write(text, i, nil, []ctf.Value{{Bits: 2}, {Elems: []ctf.Value{{Bits: 1}, {Bits: 2}}}, {Text: []byte("abc")}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if stream, err = os.ReadFile(filepath.Join(dir, "channel_0")); err != nil {
		t.Fatal(err)
	}
	trace, err := ctf.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, ctf.NewReader(trace), func(_ int, e *ctf.Event) { events = append(events, pretty(e)) })
	return dir, stream, events
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTruncated cuts a stream off at many offsets: all events before are delivered, and an error has the
// position of the end.
func TestTruncated(t *testing.T) {
	dir, stream, events := damaged(t)
	if len(stream) < 3*8192 {
		t.Fatalf("the stream has %d bytes, too few for several packets", len(stream))
	}
	last := 0
	for cut := 1; cut < len(stream); cut += 131 {
		write(t, filepath.Join(dir, "channel_0"), stream[:cut])
		n, errs := prefix(t, dir, events)
		if n < last {
			t.Fatalf("%d events of %d bytes, and %d of fewer bytes", n, cut, last)
		}
		last = n
		if len(errs) != 1 && cut%8192 != 0 {
			t.Fatalf("%d bytes of a stream: errors %v", cut, errs)
		}
	}
	if last < len(events)*9/10 {
		t.Errorf("the last cut leaves %d of %d events", last, len(events))
	}
	write(t, filepath.Join(dir, "channel_0"), stream)
}

// TestFlipped damages bytes of the stream and of the metadata: an error or other events, and no panic.
func TestFlipped(t *testing.T) {
	dir, stream, _ := damaged(t)
	g := rand.New(rand.NewPCG(peer.FixedSeed(t, 1), 2))
	metadata, err := os.ReadFile(filepath.Join(dir, "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{"channel_0", stream}, {"metadata", metadata}} {
		for range 300 {
			bad := append([]byte{}, f.data...)
			for range 1 + g.IntN(3) {
				bad[g.IntN(len(bad))] ^= 1 << g.IntN(8)
			}
			write(t, filepath.Join(dir, f.name), bad)
			trace, _ := ctf.Open(dir)
			if trace == nil {
				continue
			}
			r := ctf.NewReader(trace)
			for n := 0; n < 100000; n++ {
				if _, err := r.Next(); err == io.EOF {
					break
				}
			}
			r.Close()
		}
		write(t, filepath.Join(dir, f.name), f.data)
	}
}

// TestDamagedMetadata keeps the declarations before the damage.
func TestDamagedMetadata(t *testing.T) {
	dir, _, events := damaged(t)
	path := filepath.Join(dir, "metadata")
	metadata, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, append(metadata, "event { name = \"late\"; id = 7; fields := struct { nothing x; }; };"...))
	n, errs := prefix(t, dir, events)
	if n != len(events) || len(errs) != 1 {
		t.Errorf("%d of %d events, errors %v", n, len(events), errs)
	}
	var place *ctf.Error
	if !errors.As(errs[0], &place) || place.File != path || place.Offset < int64(len(metadata)) {
		t.Errorf("the error says %v", errs[0])
	}
}

// A trace whose writer was killed before its first event is empty; files without a declaration are named.
func TestNoStream(t *testing.T) {
	const text = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; align = 8; } magic; }; };\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "metadata"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", "stream_0"} {
		if file != "" {
			if err := os.WriteFile(filepath.Join(dir, file), make([]byte, 4096), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		trace, err := ctf.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := ctf.NewReader(trace)
		_, err = r.Next()
		r.Close()
		if file == "" && err != io.EOF || file != "" && (err == nil || !strings.Contains(err.Error(), file)) {
			t.Errorf("with file %q: %v", file, err)
		}
	}
}

package e2e

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
)

// trace runs the program under waymark.
func (o *oracle) trace(t *testing.T, p program) map[string][]simpleHit {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command, err := tracer.Start(ctx, []string{p.run}, nil)
	if err != nil {
		t.Fatal(err)
	}
	target := tracer.PIDs(command.PID())
	if p.file != p.run {
		target = tracer.Path(p.file) // which is not loaded yet
	}
	markers, err := tracer.Find(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	events, err := tracer.Trace(target, markers, nil)
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	defer events.Close()
	if err := command.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	if err := events.Stop(); err != nil {
		t.Fatal(err)
	}
	hits := map[string][]simpleHit{}
	for e := range drain(t, events) {
		h := simpleHit{e.Point.FullName(), map[string]string{}, map[string]error{}}
		for i := range e.Values {
			f, v := &e.Point.Fields[i], &e.Values[i]
			h.values[f.Name] = canonical(f, v)
			h.why[f.Name] = v.Err()
		}
		hits[h.marker] = append(hits[h.marker], h)
	}
	return hits
}

// canonical writes a value as values.py does.
func canonical(f *event.Field, v *event.Value) string {
	kind := v.Kind()
	switch {
	case v.Err() != nil:
		if f.Kind == event.String && !errors.Is(v.Err(), variable.ErrOptimized) && strings.Contains(v.Err().Error(), "could not be read") {
			return "nil" // text at address 0
		}
		return "-"
	case f.Elem != event.Invalid:
		var words []string
		size := f.Elem.Size()
		for at := 0; at+size <= len(v.Bytes()); at += size {
			var bits uint64
			for i := size - 1; i >= 0; i-- {
				bits = bits<<8 | uint64(v.Bytes()[at+i])
			}
			if f.Elem.Signed() {
				bits = uint64(int64(bits<<(64-8*size)) >> (64 - 8*size))
			}
			one := event.Number(f.Elem, bits)
			words = append(words, canonical(&event.Field{Kind: f.Elem}, &one))
		}
		return "[" + strings.Join(words, " ") + "]"
	case kind.HasLength():
		return "text " + hex.EncodeToString(v.Bytes())
	case kind.IsFloat():
		n := math.Float64frombits(v.Bits())
		if kind == event.Float32 {
			n = float64(math.Float32frombits(uint32(v.Bits())))
		}
		var b [8]byte
		for i := range b {
			b[i] = byte(math.Float64bits(n) >> (8 * i))
		}
		return "float " + hex.EncodeToString(b[:])
	case kind == event.Pointer && v.Bits() == 0:
		return "nil"
	case kind == event.Pointer:
		return "pointer"
	case kind.Signed():
		return fmt.Sprint(int64(v.Bits()))
	}
	return fmt.Sprint(v.Bits())
}

// gdb runs the program under gdb, which prints the variables at the places that waymark found.
func (o *oracle) gdb(t *testing.T, p program, markers []*tracer.Marker) map[string][]simpleHit {
	t.Helper()
	type place struct {
		Address     uint64   `json:"address"`
		Marker      string   `json:"marker"`
		Function    string   `json:"function"`
		Line        int      `json:"line"`
		Expressions []string `json:"expressions"`
	}
	var places []place
	for _, m := range markers {
		for _, at := range m.Simple.Places {
			function, _, _ := strings.Cut(m.Simple.Function, "<")
			places = append(places, place{at.Address, m.Simple.Name, function, m.Simple.Line, m.Simple.Variables})
		}
	}
	data, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	list := p.file + ".places"
	if err := os.WriteFile(list, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gdb", "-nx", "-q", "-batch", "-x", "testdata/simple/values.py", p.run)
	cmd.Env = append(os.Environ(), "PLACES="+list, "IN="+p.file, "DEBUG="+elffile.DebugRoot)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: gdb: %v\n%s", o, err, out)
	}
	hits := map[string][]simpleHit{}
	for line := range strings.SplitSeq(string(out), "\n") {
		text, ok := strings.CutPrefix(line, "HIT ")
		if !ok {
			continue
		}
		var h simpleHit
		if err := json.Unmarshal([]byte(text), &[]any{&h.marker, &h.values}); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		hits[h.marker] = append(hits[h.marker], h)
	}
	if len(hits) == 0 {
		t.Fatalf("%v: gdb stopped nowhere\n%s", o, out)
	}
	return hits
}

package agent_test

import (
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/tracer"
)

// Every hit is counted, whatever the rate, and until the program's last moment.
func TestCount(t *testing.T) {
	runtimeDir(t)
	for _, tt := range []struct {
		name, where string
		by          []string
		want        uint64
	}{
		{"all", "", nil, 1_000_000},
		{"where", "n < 250000", nil, 250_000},
		{"by", "", []string{"what"}, 1_000_000},
	} {
		p := run(t, nil)
		p.ask("look")
		target, markers := found(t, p)
		// The small rings lose events, and so keys, but no hit.
		c, err := tracer.Count(target, markers, &tracer.CountOptions{Attach: tracer.Attach{Where: tt.where, BufferSize: 64 << 10}, By: tt.by})
		must(t, err)
		defer c.Close()
		p.ask("mark 1000000")
		must(t, p.Cmd.Process.Signal(syscall.SIGKILL))
		p.End()
		counts, err := c.Read()
		must(t, err)
		if len(counts) != 1 || counts[0].Count != tt.want {
			t.Fatalf("%s: %+v, want %d", tt.name, counts, tt.want)
		}
		n := counts[0]
		sum := n.Others
		for _, k := range n.Keys {
			sum += k.Count
		}
		if tt.by != nil && (sum != n.Count || len(n.Keys) != 1 || string(n.Keys[0].Key.Values[0].Bytes()) != "x" || n.Others == 0) {
			t.Errorf("%s: %d others and keys %+v of %d", tt.name, n.Others, n.Keys, n.Count)
		}
		must(t, c.Close())
	}
}

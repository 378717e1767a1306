package ctf_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

const lostMetadata = `/* CTF 1.8 */
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = %d; align = 8; } := counter;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; align = 8; } magic; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
stream {
	packet.context := struct {
		time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size;
		counter packet_seq_num; counter events_discarded;
	};
	event.header := struct { time timestamp; };
};
event { name = tick; fields := struct { u64 n; }; };
`

// numbered has a packet's counters of the packets and events before it.
type numbered struct{ sequence, discarded uint64 }

// writePackets writes a trace of one event a packet, with counters of so many bits.
func writePackets(t *testing.T, bits int, packets []numbered) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "metadata"), fmt.Appendf(nil, lostMetadata, bits))
	var b []byte
	le := binary.LittleEndian
	for i, p := range packets {
		at, size := uint64(100*i), uint64(8*(4+4*8+2*bits/8+2*8))
		b = le.AppendUint32(b, 0xc1fc1fc1)
		for _, n := range []uint64{at + 10, at + 20, size, size} {
			b = le.AppendUint64(b, n)
		}
		for _, n := range []uint64{p.sequence, p.discarded} {
			b = append(b, le.AppendUint64(nil, n)[:bits/8]...)
		}
		b = le.AppendUint64(le.AppendUint64(b, at+15), uint64(i))
	}
	write(t, filepath.Join(dir, "stream_0"), b)
	return dir
}

// TestLost compares lost packets and events with babeltrace2. Its counts are differences of 64 bits: their
// sum is right if a counter goes back and returns, and exceeds the counter if it wraps around.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		name            string
		bits            int
		packets         []numbered
		lost, discarded uint64
		wraps           bool
	}{
		{"none", 64, []numbered{{0, 0}, {1, 0}, {2, 0}}, 0, 0, false},
		{"before the first packet", 64, []numbered{{7, 0}, {8, 0}}, 0, 0, false},
		{"packets", 64, []numbered{{0, 0}, {3, 0}, {4, 0}, {10, 0}}, 2 + 5, 0, false},
		{"packets and events", 64, []numbered{{0, 0}, {1, 4}, {4, 9}}, 2, 9, false},
		{"the same number twice", 64, []numbered{{3, 0}, {3, 0}, {5, 0}}, 1, 0, false},
		{"events return to 0", 64, []numbered{{0, 0}, {1, 5}, {2, 0}, {3, 5}, {4, 7}}, 0, 7, false},
		{"events wrap around", 32, []numbered{{0, 0}, {1, 1<<31 - 1}, {2, 1<<32 - 4}, {3, 3}}, 0, 1<<32 + 3, true},
		{"packets wrap around", 8, []numbered{{255, 0}, {0, 0}, {3, 0}}, 2, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writePackets(t, c.bits, c.packets)
			trace, err := ctf.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if n := readAll(t, ctf.NewReader(trace), func(int, *ctf.Event) {}); n != len(c.packets) {
				t.Errorf("%d events of %d", n, len(c.packets))
			}
			s := trace.Streams[0]
			if s.LostPackets() != c.lost || s.Discarded() != c.discarded {
				t.Errorf("%d packets and %d events lost, want %d and %d", s.LostPackets(), s.Discarded(), c.lost, c.discarded)
			}
			if c.wraps {
				return
			}
			packets, events := babeltrace2Lost(t, dir)
			if packets != c.lost || events != c.discarded {
				t.Errorf("babeltrace2: %d packets and %d events lost, want %d and %d", packets, events, c.lost, c.discarded)
			}
		})
	}
}

// babeltrace2Lost returns the sums of the packets and events that babeltrace2 counts as lost.
func babeltrace2Lost(t *testing.T, dir string) (packets, events uint64) {
	t.Helper()
	cmd := exec.Command(peer.Need(t, "babeltrace2")[0], dir)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("babeltrace2 %s: %v\n%s", dir, err, out)
	}
	for _, m := range regexp.MustCompile(`discarded (\d+) (packet|event)s?`).FindAllSubmatch(out, -1) {
		n, err := strconv.ParseUint(string(m[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if string(m[2]) == "packet" {
			packets += n
		} else {
			events += n
		}
	}
	return packets, events
}

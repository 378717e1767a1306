package ctf_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
)

const (
	oneOrder = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
	aStream  = "stream { event.context := struct { integer { size = 8; } n; }; };\n"
	aText    = "fields := struct { string s; }; };\n"
)

// TestValidMetadata reads metadata that leaves out or repeats what the specification allows, as babeltrace2 does.
func TestValidMetadata(t *testing.T) {
	const clock = "clock { name = c; freq = 1000; };\n"
	for name, text := range map[string]string{
		"no stream":                 oneOrder + "event { name = a; " + aText,
		"no stream_id":              oneOrder + aStream + "event { name = a; " + aText,
		"the same clock once more":  oneOrder + clock + clock + aStream + "event { name = a; " + aText,
		"no stream, and two clocks": oneOrder + clock + strings.ReplaceAll(clock, "= c", "= d") + "event { name = a; " + aText,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "metadata"), []byte(text))
			write(t, filepath.Join(dir, "stream"), []byte("hello\x00how are you\x00"))
			trace, err := ctf.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			readAll(t, ctf.NewReader(trace), func(_ int, e *ctf.Event) {
				_, text, _ := strings.Cut(pretty(e), "] ")
				got = append(got, text)
			})
			for _, line := range babeltrace2(t, dir, "--clock-cycles", "--no-delta") {
				if _, text, ok := strings.Cut(line, "] "); ok {
					line = text
				}
				want = append(want, line)
			}
			agree(t, got, want)
			if len(got) != 2 {
				t.Errorf("%d events of 2", len(got))
			}
		})
	}
}

// TestRefusedMetadata has declarations that contradict each other.
func TestRefusedMetadata(t *testing.T) {
	for text, want := range map[string]string{
		"clock { name = c; freq = 10; }; clock { name = c; freq = 20; };":           `a second clock "c", which differs`,
		"stream { id = 1; }; stream { id = 2; }; event { name = a; " + aText:        "there is no stream 0",
		"stream { id = 1; }; event { name = a; stream_id = 2; " + aText:             "there is no stream 2",
		"event { name = a; stream_id = 2; " + aText:                                 "there is no stream 2",
		"event { name = a; id = 1; " + aText + "event { name = b; id = 1; " + aText: "a second one with id 1",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "metadata"), []byte(oneOrder+text))
		if _, err := ctf.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestVersion2 names the format of metadata that is JSON, as it is or in packets.
func TestVersion2(t *testing.T) {
	const json = "\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"trace-class\"}\n"
	packet := make([]byte, 37)
	copy(packet, "\x57\x1d\xd1\x75")
	packet[24], packet[28] = 37*8&0xff, 37*8&0xff
	packet[25], packet[29] = 37*8>>8, 37*8>>8
	packet[35] = 2
	for _, text := range []string{json, string(packet)} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "metadata"), []byte(text))
		trace, err := ctf.Open(dir)
		if trace != nil || !errors.Is(err, ctf.ErrVersion2) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

package ctf

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// lttngMetadata is a short form of the metadata that LTTng-UST 2.13 and barectf write.
const lttngMetadata = `/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; base = hex; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
trace { major = 1; minor = 8; uuid = "9a1b8cde-0123-4567-89ab-cdef01234567"; byte_order = le;
 packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; unsigned long stream_instance_id; }; };
env { hostname = "vm"; n = -0x1; };
clock { name = "monotonic"; freq = 1000000000; offset = 1795259000123456789; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;
struct packet_context { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end; unsigned long content_size;
 unsigned long packet_size; unsigned long packet_seq_num; unsigned long events_discarded; uint32_t cpu_id; };
struct event_header_compact {
 enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
 variant <id> { struct { uint27_clock_t timestamp; } compact; struct { uint32_t id; uint64_clock_t timestamp; } extended; } v;
} align(8);
event { name = "a:b"; id = 0; stream_id = 0; loglevel = 13; fields := struct {
 integer { size = 32; align = 8; signed = 1; byte_order = be; } _i; string _s; floating_point { exp_dig = 11; mant_dig = 53; } _d;
 uint8_t _seq_length; uint8_t _seq[ _seq_length ]; uint32_t _arr[2][3];
 enum : uint8_t { "A B", C = 'x', D = 130 ... 140, } _e; variant <_e> { string C; struct { uint8_t x; } align(16) D; } _v; }; };
stream { id = 0; event.header := struct event_header_compact; packet.context := struct packet_context;
 event.context := struct { uint32_t _vpid; integer { size = 8; align = 8; signed = true; encoding = UTF8; } _procname[17]; }; };
callsite { name = "x"; func = "f"; };
typedef uint8_t bytes_t[4], byte_t; typealias string := const char *;
event { name = c; id = 31; fields := struct { bytes_t b; byte_t c; const char * s; }; };
`

// FuzzMetadata reads any text as metadata, and again the metadata that a writer makes of its types.
func FuzzMetadata(f *testing.F) {
	f.Add(lttngMetadata)
	f.Add("trace { major = 1; minor = 8; byte_order = be; }; event { fields := struct { string s; }; };")
	f.Add("stream { event.header := struct { enum e : integer { size = 3; } { a, b = -1 ... 3 } id; }; };")
	f.Fuzz(func(t *testing.T, text string) {
		if plain, _, err := metadataText([]byte(text)); err == nil {
			text = plain
		}
		trace, _ := parseMetadata(text)
		for _, s := range trace.Classes {
			for _, e := range s.Events {
				if e.Payload != nil {
					appendType(nil, e.Payload, 0)
				}
			}
		}
	})
}

func TestMetadataOfOthers(t *testing.T) {
	trace, err := parseMetadata(lttngMetadata)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Classes) != 1 || len(trace.Classes[0].Events) != 2 || trace.Get("n").Number != -1 {
		t.Fatalf("%+v", trace)
	}
	c := trace.Clocks[0]
	if c.OffsetSeconds != 1795259000 || c.Offset != 123456789 {
		t.Errorf("clock's offset is %d s and %d", c.OffsetSeconds, c.Offset)
	}
	e := trace.Classes[0].Events[0].Payload
	if a, ok := e.Fields[5].Type.(*Array); !ok || a.Len != 2 || a.Elem.(*Array).Len != 3 {
		t.Errorf("_arr[2][3] is %+v", e.Fields[5].Type)
	}
}

// FuzzStream reads any bytes as a stream.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"", "\xc1\x1f\xfc\xc1"} {
		f.Add([]byte(seed))
	}
	header := append([]byte("\xc1\x1f\xfc\xc1"), "\x9a\x1b\x8c\xde\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67"...)
	header = append(header, make([]byte, 4+8+8+8)...)
	header = append(header, 0, 8, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0) // 2048 of 4096 bits
	f.Add(append(header, make([]byte, 600)...))
	f.Add(append(header, 31, 31, 0, 0, 0, 31, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := parseMetadata(lttngMetadata)
		if err != nil {
			t.Fatal(err)
		}
		trace.Dir = dir
		if err := os.WriteFile(filepath.Join(dir, "s"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Stream{trace: trace, Files: []string{"s"}}
		defer s.Close()
		for n := 0; ; n++ {
			e, err := s.Next()
			if errors.Is(err, io.EOF) && !errors.As(err, new(*Error)) {
				break
			}
			var place *Error
			if errors.As(err, &place) {
				if place.Offset > int64(len(data)) {
					t.Errorf("error at byte %d of %d", place.Offset, len(data))
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Class == nil || n > 8*len(data) {
				t.Fatalf("event %d of %d bytes: %+v", n, len(data), e)
			}
		}
	})
}

package cli

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "4096": 4096, "64k": 64 << 10, "16M": 16 << 20, "1G": 1 << 30, "64MB": 64 << 20, "4KiB": 4096, "1gib": 1 << 30, "512B": 512} {
		var s byteSize
		if err := s.Set(text); err != nil || int(s) != want {
			t.Errorf("%s: %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "2G", "1025M", "1.5M", "M", "1T", "99999999999", "64MBB", "64IB", "64MI B", "iB", "64BM"} {
		var s byteSize
		if err := s.Set(text); err == nil {
			t.Errorf("%q: %d, want an error", text, s)
		}
	}
}

package section

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoRecords = "a:b\x00f.c\x0012\x00n %d\x00n\x00" + "a:c\x00f.c\x0013\x00\x00\x00"

// addresses makes a section: three numbers for each.
func addresses(numbers ...uint64) (data []byte) {
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	return data
}

func TestParseAddresses(t *testing.T) {
	b := Record{"a:b", "f.c", 12, "n %d", "n"}
	second := uint64(strings.Index(twoRecords, "a:c"))
	for name, c := range map[string]struct {
		data []byte
		want []Address
		err  string
	}{
		"none":     {nil, nil, ""},
		"copies":   {addresses(0x1000, 0, 0, 0x2000, 0, 1, 0x3000, second, 0), []Address{{0x1000, b, 0}, {0x2000, b, 1}, {0x3000, Record{"a:c", "f.c", 13, "", ""}, 0}}, ""},
		"dropped":  {addresses(0, second, 0, 0x2000, 0, 0), []Address{{0x2000, b, 0}}, ""},
		"cut off":  {addresses(0x1000, 0, 0)[:23], nil, ""},
		"outside":  {addresses(0x1000, uint64(len(twoRecords)), 0), nil, "record at 0x1f"},
		"far":      {addresses(0x1000, 1<<63, 0), nil, "record at 0x8000000000000000"},
		"within":   {addresses(0x1000, 1, 0), nil, "record at 0x1"},
		"longer":   {addresses(0x1000, 0, 0, 0x2000, 0, 2), []Address{{0x1000, b, 0}}, "2 bytes of code"},
		"no line":  {addresses(0x1000, 4, 0), nil, `its line is "n %d"`},
		"too much": {addresses(0x1000, second+4, 0), nil, "cut off"},
	} {
		got, err := ParseAddresses(c.data, []byte(twoRecords))
		if d := cmp.Diff(c.want, got); d != "" || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q (-want +got)\n%s", name, err, c.err, d)
		}
	}
	many := make([]byte, 0, 24*(maxAddresses+1))
	for range maxAddresses + 1 {
		many = append(many, addresses(0x1000, 0, 0)...)
	}
	if got, err := ParseAddresses(many, []byte(twoRecords)); len(got) != maxAddresses || err == nil {
		t.Errorf("%d addresses, %v", len(got), err)
	}
}

// FuzzAddresses reads hostile sections: each address is one of the section, with a record that Parse
// would read at its place.
func FuzzAddresses(f *testing.F) {
	f.Add(addresses(0x1000, 0, 0, 0x2000, 21, 1), []byte(twoRecords))
	f.Add(addresses(0, 0, 0, 1, 1<<63, 0), []byte("\x00"))
	f.Fuzz(func(t *testing.T, data, records []byte) {
		all, err := ParseAddresses(data, records)
		if 24*len(all) > len(data) || len(all) == 0 && err == nil && len(data) >= 24 && data[0] != 0 {
			t.Errorf("%d addresses of %d bytes, %v", len(all), len(data), err)
		}
		for _, a := range all {
			text, err := Append(nil, a.Record)
			if a.Record.Name != "" && err != nil || a.Address == 0 || a.Size < 0 || a.Size > 1 {
				t.Errorf("%+v: %v", a, err)
			}
			if got, problems := Parse(text); a.Record.Name != "" && (len(got) != 1 || got[0] != a.Record || problems != nil) {
				t.Errorf("%+v was written, and read as %+v, %v", a.Record, got, problems)
			}
		}
	})
}

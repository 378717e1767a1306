package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var testNotes = []Note{
	{Provider: "p", Name: "n", Location: 0x1000},
	{Provider: "http", Name: "request__start", Location: 0x1001, Base: 0x2000, Semaphore: 0x3000, Args: "-4@%eax 8@(%rsp)"},
	{Provider: "größe", Name: "x-y", Location: 1<<64 - 1, Base: 1<<64 - 1, Semaphore: 1<<64 - 1, Args: ":"},
}

func appendAll(t testing.TB, notes ...Note) []byte {
	t.Helper()
	var section []byte
	for _, n := range notes {
		var err error
		if section, err = AppendNote(section, n); err != nil {
			t.Fatal(err)
		}
	}
	return section
}

func TestRoundTrip(t *testing.T) {
	for pad := range 8 { // every remainder of 4
		notes := slices.Clone(testNotes)
		notes[0].Args = strings.Repeat("x", pad)
		section := appendAll(t, notes...)
		if len(section)%4 != 0 {
			t.Errorf("section of %d bytes", len(section))
		}
		got, errs := ParseNotes(section, elf.ELFCLASS64, binary.LittleEndian)
		if len(errs) > 0 || !slices.Equal(got, notes) {
			t.Errorf("got %+v, errors %v", got, errs)
		}
	}
}

// bcc takes a note only if its strings end exactly with the description.
func TestAppendNoteLayout(t *testing.T) {
	got := appendAll(t, Note{Provider: "pr", Name: "n", Location: 1, Base: 2, Semaphore: 3, Args: "8@$1"})
	want := "\x08\x00\x00\x00" + "\x22\x00\x00\x00" + "\x03\x00\x00\x00" + "stapsdt\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x03\x00\x00\x00\x00\x00\x00\x00" +
		"pr\x00n\x008@$1\x00" + "\x00\x00"
	if string(got) != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestAppendNoteRefuses(t *testing.T) {
	for want, n := range map[string]Note{
		"empty provider":             {Name: "n"},
		"empty name":                 {Provider: "p"},
		"zero byte in the provider":  {Provider: "p\x00", Name: "n"},
		"zero byte in the name":      {Provider: "p", Name: "\x00n"},
		"zero byte in the arguments": {Provider: "p", Name: "n", Args: "8@%rax\x00"},
		"name of 65537 bytes":        {Provider: "p", Name: strings.Repeat("n", maxNameBytes+1)},
		"arguments of 1048577 bytes": {Provider: "p", Name: "n", Args: strings.Repeat("n", maxArgsBytes+1)},
	} {
		before := []byte("kept")
		got, err := AppendNote(before, n)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%s: got %v", want, err)
		}
		if string(got) != "kept" {
			t.Errorf("%s: the buffer became %q", want, got)
		}
	}
}

// encode writes a note for any class and order, with a description as given.
func encode(order binary.ByteOrder, owner string, kind uint32, desc []byte) []byte {
	b := slices.Concat(words(order, uint32(len(owner)), uint32(len(desc)), kind), []byte(owner))
	b = append(b, make([]byte, -len(b)&3)...)
	b = append(b, desc...)
	return append(b, make([]byte, -len(b)&3)...)
}

func words(order binary.ByteOrder, list ...uint32) []byte {
	b := make([]byte, 4*len(list))
	for i, w := range list {
		order.PutUint32(b[4*i:], w)
	}
	return b
}

func doubles(order binary.ByteOrder, list ...uint64) []byte {
	b := make([]byte, 8*len(list))
	for i, w := range list {
		order.PutUint64(b[8*i:], w)
	}
	return b
}

func TestClassesAndOrders(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for class, addrs := range map[elf.Class][]byte{
			elf.ELFCLASS32: words(order, 0x81020304, 5, 6), elf.ELFCLASS64: doubles(order, 0x81020304, 5, 6),
		} {
			section := encode(order, "stapsdt\x00", 3, append(addrs, "prov\x00name\x004@[sp, #8]\x00"...))
			got, errs := ParseNotes(append(section, section...), class, order)
			want := Note{Provider: "prov", Name: "name", Location: 0x81020304, Base: 5, Semaphore: 6, Args: "4@[sp, #8]"}
			if len(errs) > 0 || !slices.Equal(got, []Note{want, want}) {
				t.Errorf("%v %v: got %+v, errors %v", class, order, got, errs)
			}
		}
	}
	if _, errs := ParseNotes(nil, elf.ELFCLASSNONE, binary.LittleEndian); len(errs) != 1 {
		t.Errorf("no class: %v", errs)
	}
}

// A bad note costs itself, and its error has the position.
func TestBadNotes(t *testing.T) {
	le := binary.LittleEndian
	addrs := doubles(le, 1, 2, 3)
	good := appendAll(t, Note{Provider: "p", Name: "n", Location: 7})
	tests := []struct {
		note []byte
		want string // in the error; "" for none
		read int    // notes with the good ones around it
	}{
		{encode(le, "stapsdt\x00", 3, append(addrs, "p\x00n\x00"...)), "arguments not ended", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, "p\x00n"...)), "name not ended", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, "p"...)), "provider not ended", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, "\x00n\x00\x00"...)), "without a provider", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, "p\x00\x00\x00"...)), "without a provider or a name", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, strings.Repeat("p", maxNameBytes+1)+"\x00n\x00\x00"...)), "more than 65536", 2},
		{encode(le, "stapsdt\x00", 3, addrs[:23]), "hold no three addresses", 2},
		{encode(le, "stapsdt\x00", 3, nil), "hold no three addresses", 2},
		{encode(le, "stapsdt\x00", 2, append(addrs, "p\x00n\x00\x00"...)), "version 2", 2},
		{encode(le, "stapsdt\x00", 3, append(addrs, "p\x00n\x00\x00tail"...)), "", 3},
		{encode(le, "stapsdt ", 3, append(addrs, "p\x00n\x00\x00"...)), "", 2},
		{encode(le, "GNU\x00", 3, []byte("12345")), "", 2},
		{encode(le, "", 0, nil), "", 2},
		{encode(le, "some other\x00", 9, bytes.Repeat([]byte("x"), 99)), "", 2},
		{words(le, 8, 1<<31, 3), "run past the end", 1},
		{words(le, 1<<32-1, 1<<32-1, 3), "run past the end", 1},
	}
	for _, test := range tests {
		notes, errs := ParseNotes(slices.Concat(good, test.note, good), elf.ELFCLASS64, le)
		if len(notes) != test.read {
			t.Errorf("%q: %d notes, want %d, errors %v", test.want, len(notes), test.read, errs)
		}
		if test.want == "" && len(errs) == 0 {
			continue
		}
		at := fmt.Sprintf("offset %#x", len(good))
		if len(errs) != 1 || test.want == "" || !strings.Contains(errs[0].Error(), test.want) || !strings.Contains(errs[0].Error(), at) {
			t.Errorf("got errors %v, want one with %q and %q", errs, test.want, at)
		}
	}
}

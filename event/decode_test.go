package event

import "testing"

func TestExtend(t *testing.T) {
	for _, test := range []struct {
		bits   uint64
		size   int
		signed bool
		want   uint64
	}{
		{0xffff_ff80, 1, true, 1<<64 - 128},
		{0xffff_ff80, 1, false, 0x80},
		{0x1_8000_0000, 4, true, 0xffff_ffff_8000_0000},
		{0x1_8000_0000, 4, false, 0x8000_0000},
		{0x8000, 2, true, 0xffff_ffff_ffff_8000},
		{1 << 63, 8, true, 1 << 63},
		{7, 0, true, 7},
	} {
		kind := Uint64
		if test.signed {
			kind = Int64
		}
		if got := kind.Extend(test.bits, test.size); got != test.want {
			t.Errorf("%#x as %d bytes, signed %t: %#x, want %#x", test.bits, test.size, test.signed, got, test.want)
		}
	}
}

// Decode returns a value for each field, or an error, whatever a program recorded. Texts are parts
// of the bytes that follow the arguments, in order.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{byte(Int32), byte(String), byte(Bytes), byte(Bool)}, make([]byte, 64), []byte("texts"))
	f.Add([]byte{byte(String)}, []byte("\x02\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"), []byte("abc"))
	f.Add([]byte{byte(Bytes)}, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"), []byte{})
	f.Fuzz(func(t *testing.T, kinds, args, texts []byte) {
		var fields []Field
		at := 0
		for _, k := range kinds[:min(len(kinds), 16)] {
			field := Field{Name: "f", Kind: Kind(k % byte(numKinds)), Offset: at}
			if field.Kind == Invalid {
				field.Unavailable = "a reason"
			}
			field.Size = field.Kind.SizeIn(8)
			at += field.Size
			fields = append(fields, field)
		}
		if err := CheckLayout(fields, len(args), 8); err != nil {
			if at <= len(args) {
				t.Fatal(err)
			}
			return
		}
		values, err := Decode(nil, fields, args, texts)
		if err != nil {
			return
		}
		if len(values) != len(fields) {
			t.Fatalf("%d values for %d fields", len(values), len(fields))
		}
		rest := texts
		for i := range values {
			v := &values[i]
			if v.Kind() != fields[i].Kind || (v.Err() != nil) != (v.Kind() == Invalid) {
				t.Errorf("field %d of kind %v: %v, %v", i, fields[i].Kind, v.Kind(), v.Err())
			}
			if !v.Kind().HasLength() {
				continue
			}
			if v.Len() < len(v.Bytes()) || len(v.Bytes()) > len(rest) || string(rest[:len(v.Bytes())]) != string(v.Bytes()) {
				t.Fatalf("field %d is %q of %d bytes, the texts go on with %q", i, v.Bytes(), v.Len(), rest)
			}
			rest = rest[len(v.Bytes()):]
		}
	})
}

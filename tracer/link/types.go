package link

import (
	"encoding/binary"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// What follows reads the type descriptors of internal/abi (type.go), which have been the
// same since Go 1.14 in everything used here. All of it is checked by its content: a
// dictionary that does not read as expected costs the marker its types, no more.
const (
	typeFlags   = 20
	typeKind    = 23
	typeStr     = 40
	typeSize    = 48 // of abi.Type
	kindMask    = 31
	kindFunc    = 19
	kindSlice   = 23
	kindStruct  = 25
	kindUint8   = 8
	uncommon    = 1 << 0
	extraStar   = 1 << 1
	sizeofFunc  = 56 // abi.FuncType: Type, InCount, OutCount, padding
	sizeofExtra = 16 // abi.UncommonType
)

// maxDictionary bounds the search through a dictionary, in words.
const maxDictionary = 256

// dictionary looks in a generic dictionary for the type of a func with the given number of
// arguments, all basic, and no results: package marker sees to it that there is one. It
// returns nil when addr is not such a dictionary.
func (img *image) dictionary(addr uint64, arity int) []argument {
	for i := range uint64(maxDictionary) {
		t, ok := img.pointer(addr + 8*i)
		if !ok {
			return nil
		}
		if args := img.funcType(t, arity); args != nil {
			return args
		}
		if i > 0 && !img.isPointer(addr+8*i) {
			return nil // past the end of the dictionary
		}
	}
	return nil
}

// isPointer reports whether the word at addr holds the address of something in the file.
func (img *image) isPointer(addr uint64) bool {
	p, ok := img.pointer(addr)
	return ok && img.at(p, 1) != nil
}

func (img *image) kind(t uint64) int {
	if t < img.anchor.types || t >= img.anchor.etypes && img.anchor.etypes != 0 {
		return 0
	}
	b := img.at(t, typeSize)
	if b == nil {
		return 0
	}
	return int(b[typeKind] & kindMask)
}

func (img *image) funcType(t uint64, arity int) []argument {
	if img.kind(t) != kindFunc {
		return nil
	}
	b := img.at(t, sizeofFunc)
	if b == nil || int(le.Uint16(b[typeSize:])) != arity || le.Uint16(b[typeSize+2:]) != 0 {
		return nil
	}
	in := t + sizeofFunc
	if b[typeFlags]&uncommon != 0 {
		in += sizeofExtra
	}
	args := make([]argument, arity)
	for i := range args {
		p, ok := img.pointer(in + 8*uint64(i))
		if !ok {
			return nil
		}
		if args[i] = img.basicType(p); args[i].kind == event.Invalid {
			return nil
		}
	}
	return args
}

// kindsByABI maps abi.Kind, which numbers kinds as reflect does, to ours.
var kindsByABI = map[int]event.Kind{
	1: event.Bool, 2: event.Int, 3: event.Int8, 4: event.Int16, 5: event.Int32, 6: event.Int64,
	7: event.Uint, 8: event.Uint8, 9: event.Uint16, 10: event.Uint32, 11: event.Uint64, 12: event.Uintptr,
	13: event.Float32, 14: event.Float64, 23: event.Bytes, 24: event.String, 26: event.Pointer,
}

func (img *image) basicType(t uint64) argument {
	abi := img.kind(t)
	k := kindsByABI[abi]
	if abi == kindSlice {
		elem, ok := img.pointer(t + typeSize)
		if !ok || img.kind(elem) != kindUint8 {
			return argument{}
		}
	}
	a := argument{kind: k, typeName: img.typeName(t)}
	switch {
	case k == event.Int64 && img.packageOf(t) == "time": // other packages may have the same name
		a.kind = event.KindOfType(k, a.typeName)
	case abi == kindStruct && img.isText(t, a.typeName):
		a.kind = event.String
	}
	if a.typeName == "" {
		a.typeName = k.String()
	}
	return a
}

// markerPackage is the import path of package marker, and textType the prefix of the names of its
// Text types. At a stub, a Text is a string.
const (
	markerPackage = "github.com/waymark-trace/waymark/marker"
	textType      = "marker.Text["
	textSize      = 16
)

// isText reports whether the struct at t is a marker.Text. Its unexported fields name its package.
func (img *image) isText(t uint64, name string) bool {
	size := img.at(t, 8)
	pkg, ok := img.pointer(t + typeSize)
	return ok && size != nil && le.Uint64(size) == textSize && strings.HasPrefix(name, textType) && img.name(pkg) == markerPackage
}

// typeName returns the type's name as Go prints it, "" when it cannot be read.
func (img *image) typeName(t uint64) string {
	b := img.at(t, typeSize)
	if b == nil {
		return ""
	}
	text := img.name(img.anchor.types + uint64(le.Uint32(b[typeStr:])))
	if b[typeFlags]&extraStar != 0 {
		return strings.TrimPrefix(text, "*")
	}
	return text
}

// packageOf returns the import path of the package that declares the basic type at t, or "".
func (img *image) packageOf(t uint64) string {
	b := img.at(t, typeSize+4)
	if b == nil || b[typeFlags]&uncommon == 0 {
		return ""
	}
	path := le.Uint32(b[typeSize:]) // abi.UncommonType directly follows an abi.Type of a basic kind
	if path == 0 {
		return ""
	}
	return img.name(img.anchor.types + uint64(path))
}

// name reads an abi.Name: a byte of flags, the length as a varint, the text.
func (img *image) name(at uint64) string {
	head := img.at(at, 3)
	if head == nil {
		return ""
	}
	n, w := binary.Uvarint(head[1:])
	if w <= 0 || n > 1000 {
		return ""
	}
	return string(img.at(at+1+uint64(w), n))
}

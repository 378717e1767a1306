package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
)

// abbreviation is what entries of one code have in common (DWARF 5, 7.5.3): how to go over one
// without making a value of each of its attributes, which is what debug/dwarf spends its time on.
type abbreviation struct {
	tag      dwarf.Tag
	children bool
	code     bool // it has an address, or ranges of them
	steps    []step
}

// step goes over one value, or over several of which the size is known.
type step struct {
	attr     dwarf.Attr // 0 for values of no interest
	form     uint64
	size     int   // 0: the form says it
	constant int64 // of formImplicitConst
}

// layout is what the abbreviations of a unit and their sizes depend on.
type layout struct {
	at      uint64 // in .debug_abbrev
	word    int    // the size of offsets
	address int    // and of addresses
	version int
}

// abbreviations are those of one unit, or of several that share them.
type abbreviations struct {
	layout
	dense  []abbreviation // codes 1, 2, 3 and so on, which is how compilers number them
	others map[uint64]abbreviation
}

// abbreviations returns those of a unit. The last that were read are kept.
func (f *File) abbreviations(u *Unit) (*abbreviations, error) {
	if f.abbrevs != nil && f.abbrevs.layout == u.layout {
		return f.abbrevs, nil
	}
	data, err := f.Section("abbrev")
	if err != nil {
		return nil, err
	}
	if u.layout.at > uint64(len(data)) {
		return nil, fmt.Errorf("abbreviations at %#x: %w", u.layout.at, errCut)
	}
	t := &abbreviations{layout: u.layout, others: map[uint64]abbreviation{}}
	if err := t.read(&Buffer{Data: data, At: int(u.layout.at)}); err != nil {
		return nil, fmt.Errorf("abbreviations at %#x: %w", u.layout.at, err)
	}
	f.abbrevs = t
	return t, nil
}

func (t *abbreviations) read(b *Buffer) error {
	for {
		code := b.Uleb()
		if code == 0 || b.Err != nil {
			return b.Err
		}
		a := abbreviation{tag: dwarf.Tag(b.Uleb()), children: b.Uint(1) != 0}
		for {
			attr, form, constant := dwarf.Attr(b.Uleb()), b.Uleb(), int64(0)
			if form == formImplicitConst {
				constant = b.Sleb()
			}
			if b.Err != nil {
				return b.Err
			}
			if attr == 0 && form == 0 {
				break
			}
			t.add(&a, step{attr: attr, form: form, constant: constant})
		}
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
		} else {
			t.others[code] = a
		}
	}
}

// add adds the step over an attribute.
func (t *abbreviations) add(a *abbreviation, s step) {
	if s.attr == dwarf.AttrLowpc || s.attr == dwarf.AttrRanges {
		a.code = true
	}
	if !a.wants(s.attr) {
		s.attr = 0
	}
	var known bool
	if s.size, known = t.size(s.form); !known || s.attr != 0 {
		a.steps = append(a.steps, s)
		return
	}
	if n := len(a.steps); n > 0 && a.steps[n-1].attr == 0 && a.steps[n-1].size > 0 {
		a.steps[n-1].size += s.size
	} else if s.size > 0 {
		a.steps = append(a.steps, s)
	}
}

// wants reports whether entries are asked for the value of an attribute: of each the first.
func (a *abbreviation) wants(attr dwarf.Attr) bool {
	switch attr {
	case dwarf.AttrSibling:
	case dwarf.AttrDeclFile, dwarf.AttrDeclLine:
		if a.tag != dwarf.TagSubprogram {
			return false
		}
	default:
		return false
	}
	for _, s := range a.steps {
		if s.attr == attr {
			return false
		}
	}
	return true
}

func (t *abbreviations) of(code uint64) *abbreviation {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	if a, ok := t.others[code]; ok {
		return &a
	}
	return nil
}

// Forms of values besides those that tell of files: DWARF 5, 7.5.6, and GNU's of DWARF 4.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formBlock1        = 0x0a
	formFlag          = 0x0c
	formSdata         = 0x0d
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// size returns the size of a form's values when all have the same.
func (t *abbreviations) size(form uint64) (n int, known bool) {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return t.word, true
	case formAddr:
		return t.address, true
	case formRefAddr:
		if t.version == 2 {
			return t.address, true
		}
		return t.word, true
	}
	return 0, false
}

var errIndirect = errors.New("a form that says that another form says so")

// skip goes over a value whose size its form does not say.
func (t *abbreviations) skip(b *Buffer, form uint64) error {
	switch form {
	case formFlagPresent, formImplicitConst:
	case formString:
		b.skipString()
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx:
		b.Uleb()
	case formBlock, formExprloc:
		b.Bytes(b.Uleb())
	case formBlock1:
		b.Bytes(b.Uint(1))
	case formBlock2:
		b.Bytes(b.Uint(2))
	case formBlock4:
		b.Bytes(b.Uint(4))
	case formIndirect:
		form = b.Uleb()
		if n, known := t.size(form); known {
			b.Bytes(uint64(n))
			return nil
		}
		if form == formIndirect {
			return errIndirect
		}
		return t.skip(b, form)
	default:
		return fmt.Errorf("form %#x is not known", form)
	}
	return nil
}

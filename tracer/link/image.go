package link

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// image is an executable file seen as the memory it will become.
type image struct {
	data     []byte // the whole file
	elf      *elffile.Image
	arch     architecture
	loads    []elffile.Segment
	relative map[uint64]uint64 // address → what a RELATIVE relocation puts there
	anchor   anchor
	goVer    string
	info     *buildinfo.BuildInfo
	race     bool // built with -race, where nothing of package marker is inlined
	funcs    *gosym.Table
	library  bool // of a -buildmode that makes none that runs by itself, and in none that does
}

// anchor holds the addresses that package stub's anchor names.
type anchor struct {
	addr              uint64 // of the anchor itself
	pool, stubs       uint64
	types, etypes     uint64
	text, etext       uint64
	pclntab, epclntab uint64
}

var le = binary.LittleEndian

// openImage checks that data is an executable that link can work on.
func openImage(data []byte) (*image, error) {
	f, err := elffile.FromBytes(data)
	if errors.Is(err, elffile.ErrNotELF) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is cut off or damaged: %w", ErrLayout, err)
	}
	arch, known := architectures[f.Machine]
	if f.Class != elf.ELFCLASS64 || !known || f.Order != binary.LittleEndian {
		return nil, fmt.Errorf("%w: it is for %s, %s", ErrArchitecture, f.Machine, f.Class)
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%w: it is of type %s", ErrNotExecutable, f.Type)
	}
	img := &image{data: data, elf: f, arch: arch}
	file := uint64(0) // bytes of the file in segments
	for _, p := range f.Segments {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Offset > uint64(len(data)) || p.FileSize > uint64(len(data))-p.Offset || p.Addr > math.MaxUint64-p.MemSize {
			return nil, fmt.Errorf("%w: the segment at 0x%x reaches past the end of the file", ErrLayout, p.Addr)
		}
		// Ascending, as the ELF specification has it: what overlaps would be read many times.
		if n := len(img.loads); n > 0 && p.Addr < img.loads[n-1].Addr+img.loads[n-1].MemSize {
			return nil, fmt.Errorf("%w: the segments at 0x%x and 0x%x overlap", ErrLayout, img.loads[n-1].Addr, p.Addr)
		}
		if file += p.FileSize; file > 2*uint64(len(data)) {
			return nil, fmt.Errorf("%w: its segments share parts of the file", ErrLayout)
		}
		img.loads = append(img.loads, p)
	}
	if img.info, err = readBuildInfo(data); err != nil {
		return nil, ErrNotGo
	}
	img.goVer = img.info.GoVersion
	img.race = img.setting("-race") == "true"
	switch img.setting("-buildmode") {
	case "", "exe", "pie":
	case "plugin":
		return nil, ErrPlugin
	case "c-archive": // linked into an executable, whose file then has the sites, or into a library
		img.library = !img.isExecutable()
	default:
		img.library = true
	}
	if err := img.readRelocations(); err != nil {
		return nil, err
	}
	// Without an anchor there may be simple markers.
	if err := img.findAnchor(); err != nil && !errors.Is(err, ErrNoMarkers) {
		return nil, err
	}
	return img, nil
}

// isExecutable reports whether the file is one that execve runs, rather than a shared library: position independent
// executables are of the same type.
func (img *image) isExecutable() bool {
	const dtFlags1, df1PIE = 0x6ffffffb, 0x08000000
	for _, p := range img.elf.Segments {
		switch p.Type {
		case elf.PT_INTERP:
			return true
		case elf.PT_DYNAMIC:
			for b := img.at(p.Addr, p.FileSize); len(b) >= 16; b = b[16:] {
				if le.Uint64(b) == dtFlags1 && le.Uint64(b[8:])&df1PIE != 0 {
					return true
				}
			}
		}
	}
	return img.elf.Type == elf.ET_EXEC
}

// setting returns what the program was built with by the name of go build's flag, "" if that is not known.
func (img *image) setting(flag string) string {
	for _, s := range img.info.Settings {
		if s.Key == flag {
			return s.Value
		}
	}
	return ""
}

// readBuildInfo reads the build information that go build writes into a program.
func readBuildInfo(data []byte) (info *buildinfo.BuildInfo, err error) {
	defer func() { // debug/elf is documented as not hardened against hostile input
		if r := recover(); r != nil {
			info, err = nil, fmt.Errorf("%w: %v", ErrNotGo, r)
		}
	}()
	return buildinfo.Read(bytes.NewReader(data))
}

// readRelocations notes what the dynamic loader will store: in a position independent
// executable every pointer in data is zero in the file.
func (img *image) readRelocations() error {
	img.relative = make(map[uint64]uint64)
	for _, s := range img.elf.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		if s.Offset > uint64(len(img.data)) || s.Size > uint64(len(img.data))-s.Offset {
			return fmt.Errorf("%w: section %s reaches past the end of the file", ErrLayout, img.elf.Name(&s))
		}
		entries := img.data[s.Offset : s.Offset+s.Size]
		for ; len(entries) >= 24; entries = entries[24:] {
			if uint32(le.Uint64(entries[8:])) == img.arch.relative() {
				img.relative[le.Uint64(entries)] = le.Uint64(entries[16:])
			}
		}
	}
	return nil
}

// at returns the file's bytes for n bytes of memory, nil when the file has none there.
func (img *image) at(addr uint64, n uint64) []byte {
	for i := range img.loads {
		p := &img.loads[i]
		if addr >= p.Addr && addr-p.Addr < p.FileSize && n <= p.FileSize-(addr-p.Addr) {
			off := p.Offset + (addr - p.Addr)
			return img.data[off : off+n : off+n]
		}
	}
	return nil
}

// segment returns the segment that holds addr, nil for none.
func (img *image) segment(addr uint64) *elffile.Segment {
	for i := range img.loads {
		if p := &img.loads[i]; addr >= p.Addr && addr-p.Addr < p.FileSize {
			return p
		}
	}
	return nil
}

// pointer returns the address that the pointer at addr will hold.
func (img *image) pointer(addr uint64) (uint64, bool) {
	b := img.at(addr, 8)
	if b == nil {
		return 0, false
	}
	if to, ok := img.relative[addr]; ok {
		return to, true
	}
	return le.Uint64(b), true
}

// str returns the Go string whose header is at addr, if it is one of at most limit bytes.
func (img *image) str(addr uint64, limit uint64) (string, error) {
	p, ok := img.pointer(addr)
	h := img.at(addr, 16)
	if !ok || h == nil {
		return "", fmt.Errorf("no string header at 0x%x", addr)
	}
	n := le.Uint64(h[8:])
	if n == 0 {
		return "", nil
	}
	if n > limit {
		return "", fmt.Errorf("the string at 0x%x has %d bytes, at most %d are allowed", addr, n, limit)
	}
	b := img.at(p, n)
	if b == nil {
		return "", fmt.Errorf("the string at 0x%x points outside the file", addr)
	}
	return string(b), nil
}

// findAnchor looks for package stub's anchor in the writable segments.
func (img *image) findAnchor() error {
	var magic [16]byte
	le.PutUint64(magic[:], markerabi.AnchorMagic0)
	le.PutUint64(magic[8:], markerabi.AnchorMagic1)
	var found []uint64
	img.scanData(magic[:], func(addr uint64) { found = append(found, addr) })
	switch len(found) {
	case 0:
		return ErrNoMarkers
	case 1:
	default:
		return fmt.Errorf("%w: %d anchors, a program has one", ErrLayout, len(found))
	}
	at := found[0]
	b := img.at(at, markerabi.AnchorSize)
	if b == nil {
		return fmt.Errorf("%w: the anchor at 0x%x is cut off", ErrLayout, at)
	}
	if v := le.Uint64(b[markerabi.OffAnchorVersion:]); v != markerabi.Version {
		return versionError(v)
	}
	a := &img.anchor
	a.addr = at
	for off, to := range map[uint64]*uint64{
		markerabi.OffPool: &a.pool, markerabi.OffTypes: &a.types, markerabi.OffEtypes: &a.etypes,
		markerabi.OffText: &a.text, markerabi.OffEtext: &a.etext,
		markerabi.OffPclntab: &a.pclntab, markerabi.OffEpclntab: &a.epclntab,
	} {
		*to, _ = img.pointer(at + off)
	}
	a.stubs = le.Uint64(b[markerabi.OffStubs:])
	if a.stubs == 0 || a.stubs > 1<<16 {
		return fmt.Errorf("%w: a pool of %d stubs", ErrLayout, a.stubs)
	}
	pool := img.at(a.pool, a.stubs*markerabi.StubSize)
	if pool == nil || a.pool%markerabi.StubSize != 0 {
		return fmt.Errorf("%w: the stub pool at 0x%x is not in the file", ErrLayout, a.pool)
	}
	for i := range a.stubs {
		if !slices.Equal(pool[i*markerabi.StubSize:][:markerabi.StubSize], markerabi.Stub[:]) {
			return fmt.Errorf("%w: stub %d of the pool at 0x%x is not what this waymark knows", ErrLayout, i, a.pool)
		}
	}
	return nil
}

// scanData calls found with the address of every 8-byte aligned occurrence of magic in the
// file's writable memory.
func (img *image) scanData(magic []byte, found func(addr uint64)) {
	for _, p := range img.loads {
		if p.Flags&elf.PF_W == 0 {
			continue
		}
		seg := img.data[p.Offset : p.Offset+p.FileSize]
		for at := 0; ; at++ {
			i := bytes.Index(seg[at:], magic)
			if i < 0 {
				break
			}
			at += i
			if addr := p.Addr + uint64(at); addr%8 == 0 {
				found(addr)
			}
		}
	}
}

// Reasons for which link refuses a file. Errors wrap one of them.
var (
	ErrNotELF        = elffile.ErrNotELF
	ErrNotGo         = errors.New("not a Go program")
	ErrNotExecutable = errors.New("not an executable")
	ErrPlugin        = errors.New("link takes no plugins (-buildmode=plugin), because tracers and package marker find the markers of the program itself only")
	ErrArchitecture  = errors.New("link knows x86-64 files only")
	ErrNoMarkers     = errors.New("no markers: the program does not use package marker, or uses none of its markers")
	ErrMadeLate      = errors.New("no markers in the file's data")
	ErrNoRecords     = errors.New("no markers, and no simple marker that can be recorded")
	ErrVersion       = errors.New("markers of another version")
	ErrLayout        = errors.New("link does not understand this file")
	ErrMarker        = errors.New("wrong marker")
	ErrTooMany       = errors.New("more markers than stubs")
)

func versionError(v uint64) error {
	return fmt.Errorf("%w: the program was built with marker layout %d, this waymark knows %d; use the waymark of the module version in its go.mod", ErrVersion, v, markerabi.Version)
}

// Package markerabi is the agreement between the markers of a running program and the
// tools that read its file: where each member of a marker lies, and the anchor from which
// everything else is found. The marker package asserts these offsets in a test; waymark link
// reads and writes by them.
package markerabi

// A marker begins with this header, little endian, 8-byte aligned, in the program's .data:
//
//	 0  armed     uint32      low half: the kernel's reference counter; high half: in-process arming
//	 4  version   uint16      Version
//	 6  arity     uint8       number of arguments, 0…8
//	 7  -         uint8       zero
//	 8  magic     2 × uint64  MarkerMagic0, MarkerMagic1
//	24  name      string      pointer, length
//	40  format    string      pointer, length
//	56  stub      int64       written by link: the stub's address less this member's own; 0: not linked
//	64  state     pointer     in-process probes; zero in a file
//
// The armed word comes first because a pointer to it then costs the compiler's inliner nothing.
//
// Version changes whenever any of this does: link refuses markers of another version.
const (
	MarkerMagic0 = 0x6b72616d79617701 // "\x01waymark"
	MarkerMagic1 = 0x9d3af1c47be0528e // random
	Version      = 3
	MaxArity     = 8

	OffArmed   = 0
	OffVersion = 4
	OffArity   = 6
	OffMagic   = 8
	OffName    = 24
	OffFormat  = 40
	OffStub    = 56
	OffState   = 64
	HeaderSize = 72
)

// The anchor is one object per program, in .noptrdata, written in assembly so that it can
// name symbols of the Go linker that Go code cannot:
//
//	 0  magic     2 × uint64  AnchorMagic0, AnchorMagic1
//	16  version   uint64      Version
//	24  pool      address     the first stub
//	32  stubs     uint64      number of stubs in the pool
//	40  types     address     runtime.types, the base of type name offsets
//	48  etypes    address     runtime.etypes
//	56  text      address     runtime.text … runtime.etext
//	64  etext     address
//	72  pclntab   address     runtime.pclntab … runtime.epclntab
//	80  epclntab  address
//	88  data      address     runtime.data … runtime.edata
//	96  edata     address
//	104 bss       address     runtime.bss … runtime.ebss
//	112 ebss      address
//	120 sites     uint64      written by link --optimize: where in the file the site table is; 0: there is none
//	128 sitesSize uint64      its size in bytes
const (
	AnchorMagic0 = 0x68636e6179617702 // "\x02waynch"
	AnchorMagic1 = 0x41f6d80b93ce275a // random

	OffAnchorVersion = 16
	OffPool          = 24
	OffStubs         = 32
	OffTypes         = 40
	OffEtypes        = 48
	OffText          = 56
	OffEtext         = 64
	OffPclntab       = 72
	OffEpclntab      = 80
	OffSites         = 120
	OffSitesSize     = 128
	AnchorSize       = 136
)

// A stub is 16 bytes of code that a marker's slow path calls while a kernel tracer is
// connected. Each marker has a stub of its own, which is the marker's address for tracers:
//
//	 0  0f 1f 44 00 00                 nop5: the note's location, optimized by Linux 6.18–7.1
//	 5  66 2e 0f 1f 84 00 00 00 00 00  nop10: optimized by Linux 7.2 and later
//	15  c3                             ret
//
// At the stub RAX points to the record of the arguments and R14 to the runtime's g. 16-byte
// alignment keeps a stub from straddling a page, which the kernel's optimization requires.
const (
	StubSize   = 16
	StubNop10  = 5 // offset of the nop10
	StubsTotal = 1024
)

// Stub is the code of one stub.
var Stub = [StubSize]byte{
	0x0f, 0x1f, 0x44, 0x00, 0x00,
	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xc3,
}

// Tracepoints and keys begin with a magic of their own. Only the program itself searches for
// them, so their packages define their members.
const (
	TracepointMagic0 = 0x6b72616d79617703 // "\x03waymark"
	TracepointMagic1 = 0x2f8c60d914bb7ae5 // random
	KeyMagic0        = 0x6b72616d79617704 // "\x04waymark"
	KeyMagic1        = 0xb7e215093fd86ac1 // random
)

// The site table lists the code that an optimized program patches. It is in the file, not loaded, in
// a section named .waymark.sites: a header, then sites in the order of their words, and of their
// addresses for one word. Addresses are those of the file; the difference of the anchor's addresses
// relocates them.
//
//	 0  magic   uint64  SitesMagic
//	 8  anchor  uint64  the anchor's address
//	16  sites   uint64  number of sites
//	24  flags   uint64  SitesNoWatch
//
// and for each site:
//
//	 0  address uint64  of the byte that is patched, the opcode of an instruction
//	 8  word    uint64  the armed word that the site stands for
//	16  off     uint8   the byte while the word is zero
//	17  on      uint8   the byte while it is not
//	18  first   uint8   which of them the file has
//	19  prefix  uint8       1: the instruction begins with SitePrefix, one byte before; else 0
//	20  operand 4 × uint8 of that instruction, which is never changed; zero after one of a byte
//
// Only this byte ever changes. JMP rel8 (EB) and TEST AL, imm8 (A8) differ in it alone, and so do
// JMP rel32 (E9) and TEST EAX, imm32 (A9): the distance of the jump is the operand of the test, which
// changes only flags. MOV EAX…EDI, imm32 (B8…BF) serves as well, if the register is free. The byte in
// the file matches the word in the file: a key can be on from the start. SitePrefix changes neither
// instruction: it names a segment, without effect. The kernel's jumps to its thunks have it
// (gcc -mindirect-branch-cs-prefix).
const (
	SitesSection    = ".waymark.sites"
	SitesMagic      = 0x7365746973796177 // "waysites"
	SitesHeaderSize = 32
	SiteSize        = 24

	OffSitesAnchor = 8
	OffSitesCount  = 16
	OffSitesFlags  = 24

	OffSiteWord    = 8
	OffSiteOff     = 16
	OffSiteOn      = 17
	OffSiteFirst   = 18
	OffSitePrefix  = 19
	OffSiteOperand = 20

	SitesNoWatch = 1 // do not watch for kernel tracers

	SitePrefix = 0x2e
	JumpShort  = 0xeb
	TestShort  = 0xa8
	JumpNear   = 0xe9
	TestNear   = 0xa9
	MoveNear   = 0xb8 // and the register's number
)

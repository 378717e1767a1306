package sdt

// Limits on the work for one file. Each is well over the output of any tool: the largest real file
// known, OpenJDK 17's libjvm.so, has some 500 notes.
const (
	maxSectionBytes = 256 << 20 // one .note.stapsdt section
	maxNotes        = 1 << 20   // notes of one section, readable or not
	maxNameBytes    = 64 << 10  // a provider, a name
	maxArgsBytes    = 1 << 20   // an argument text

	maxSiteOperands = 255     // bpftrace's limit; sys/sdt.h emits 12
	maxFileOperands = 2 << 20 // all sites of a file together

	maxSymbolName = 4096
	maxProblems   = 4096 // kept in a File
)

// Package sdt reads and writes static probe notes: the .note.stapsdt sections that
// SystemTap's sys/sdt.h, waymark link, and every compatible emitter leave in ELF files.
//
// A probe, provider:name, has one note per site: the address of a nop, the address of a
// reference counter or zero, and a text that says where each argument lies. The package
// turns notes into file offsets, which is what the kernel attaches to, and argument texts
// into Operands, for every architecture on any host. It reads files only (a program's, and the
// separate debug file that has its symbols), it never attaches.
//
// Every byte is taken to be hostile: reads are bounded, an error names the place in the file,
// and what cannot be understood costs as little as possible: one operand its argument, one
// note itself.
package sdt

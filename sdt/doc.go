// Package sdt reads and writes static probe notes: the .note.stapsdt sections that
// SystemTap's sys/sdt.h, waymark link, and every compatible emitter leave in ELF files.
//
// A probe, provider:name, has one note per site: the address of a nop, the address of a
// reference counter or zero, and a text with the location of each argument. The package
// turns notes into file offsets, to which the kernel attaches, and argument texts into
// Operands, for every architecture on any host. It reads files only (a program's, and the
// separate debug file that has its symbols), it never attaches.
//
// Every byte is treated as hostile: reads are bounded, an error names the position in the file,
// and damage costs as little as possible: a bad operand its argument, a bad note itself.
package sdt

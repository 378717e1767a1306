// Package ctf reads and writes traces in the Common Trace Format, version 1.8: what LTTng and barectf
// write, and what babeltrace2 and Trace Compass open.
//
// A trace is a directory. Its file "metadata" describes, in a language of its own (TSDL), the
// types of everything else; the other files are streams of packets, each with events in the order of time. A
// [Type] describes a field, and a [Value] is one; they are the same for reading and for writing.
//
// [Create] makes a trace. What is on disk is a valid trace at every moment, also after the writing
// process was killed or the disk was full: see [StreamWriter]. [Open] reads one, of which not
// a byte is trusted: what is wrong is an error with file and offset, and what precedes it is delivered. Memory
// is bounded by the largest event, whatever the sizes of packets and files.
//
// The specification is at https://diamon.org/ctf/v1.8.3. It is followed but for the limits that are
// constants of this package. In what it leaves open (underscores before names, timestamps of fewer
// than 64 bits, references from one scope to another) Open does what babeltrace2 does.
package ctf

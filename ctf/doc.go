// Package ctf reads and writes traces in the Common Trace Format, version 1.8, which LTTng and barectf
// write, and babeltrace2 and Trace Compass open.
//
// A trace is a directory. Its file "metadata" describes, in a language of its own (TSDL), the
// types of everything else; the other files are streams of packets, each with events in the order of time. A
// [Type] describes a field, and a [Value] is one; they are the same for reading and for writing.
//
// [Create] makes a trace. The files are a valid trace at every moment, also after the writing process
// was killed or the disk was full: see [StreamWriter]. [Open] reads one, and trusts no byte of it:
// damage is an error with file and offset, and all events before it are delivered. Memory is bounded
// by the largest event, whatever the sizes of packets and files.
//
// The specification is at https://diamon.org/ctf/v1.8.3. The package follows it, up to the limits that
// are its constants. On open questions (underscores before names, timestamps of fewer than 64 bits,
// references from one scope to another) Open agrees with babeltrace2.
package ctf

// Package recording keeps events of markers in traces on disk, and reads them back.
//
// A trace is in the Common Trace Format, which babeltrace2 and Trace Compass open; docs/record.md describes its
// contents. [Record] carries events from sources, such as those of package tracer, into a trace: of either engine and
// of several at once, on one clock. A [Writer] takes events one by one. A [Reader] gives back the same events, and
// those of traces that others recorded, such as LTTng.
package recording

// Package recording keeps events of markers in traces on disk, and reads them back.
//
// A trace is in the Common Trace Format, which babeltrace2 and Trace Compass open; docs/record.md says what is where. A
// [Writer] takes events of package tracer, of either engine and of several at once, on one clock. A [Reader] gives
// back the same events, and those of traces that others recorded, such as LTTng.
package recording

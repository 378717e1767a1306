// Package clock reads the cheapest reliable clock of a machine, to stamp events, and converts its
// ticks to CLOCK_MONOTONIC and to wall time, to read them.
//
// A processor's counter is used if the processor reports one rate in all power states, and the kernel
// agrees that all processors count alike: otherwise Linux takes tsc off its list of clock sources. A
// stamp is then two instructions instead of a call through the vDSO. Everywhere else ticks are the
// runtime's monotonic nanoseconds.
//
// Writers never convert. Readers have pairs, the counter and the other clocks read at one moment, and
// draw lines between them: the rate of CLOCK_MONOTONIC changes a little whenever the time is
// disciplined, so a single line would be wrong.
package clock

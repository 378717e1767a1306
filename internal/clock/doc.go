// Package clock reads the cheapest reliable clock of a machine, to stamp events, and converts its
// ticks to CLOCK_MONOTONIC and to wall time, to read them.
//
// A processor's counter is used where the processor says that it counts at one rate in all power
// states and the kernel agrees that all processors count alike: of a machine where they do not, Linux
// takes tsc off its list of clock sources. Everywhere else ticks are the runtime's monotonic
// nanoseconds. A stamp is two instructions then instead of a call through the vDSO.
//
// Who stamps never converts. Who reads has pairs, the counter and the other clocks read at one
// moment, and draws lines between them: the rate of CLOCK_MONOTONIC changes a little whenever
// the time is disciplined, so one line would not do.
package clock

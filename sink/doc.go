// Package sink connects information sinks to markers by name: functions that take the events of
// any marker, without an import of the marker's package.
//
//	c, err := sink.Connect(func(e *marker.Event) { fmt.Println(e.Name(), e) }, "http:*", "cache:miss")
//	…
//	err = c.Close()
//
// It is what the sinks below this directory are made with, and what a sink of one's own begins
// with: package marker registers and arms one name at a time, this one many, all or none, and
// undoes both in the order that leaves nothing running.
//
// # Names
//
// A pattern is a glob over provider:name, with *, ? and [...] as in path.Match; one without a
// colon matches the name in any provider. These are the patterns of the waymark command, but for markers that are
// declared without a provider: inside the process they have none, so "*:*" does not match them
// and "*" does.
//
// A glob stands for the markers that there are when it is given to Match or Connect: all that are package-level
// variables, of packages that are initialized. So connect in main, not in an init function; and connect once more after
// loading a plugin. A marker whose declaration is wrong is left out: [marker.All] says what is wrong with it.
//
// A name that is no glob is connected in any case, also to markers that appear later;
// [Connection.Pending] returns those that are still waited for, which a misspelt one is forever.
//
// # What a sink may rely on
//
// What package marker says about probes: they are called by the goroutine that marks, many at
// once, in the order in which they were registered; what they were given is theirs during the call only; one that panics is
// disconnected and [marker.OnProblem] is told. Arming a marker for a sink calls every probe of it, those included that
// somebody else registered and left unarmed.
package sink

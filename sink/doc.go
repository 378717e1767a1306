// Package sink connects information sinks to markers by name: functions that take the events of
// any marker, without an import of the marker's package.
//
//	c, err := sink.Connect(func(e *marker.Event) { fmt.Println(e.Name(), e) }, "http:*", "cache:miss")
//	…
//	err = c.Close()
//
// The sinks below this directory are built on it, and other sinks can be: package marker registers
// and arms one name at a time, this one many, all or none, and undoes both in the order that leaves
// nothing running.
//
// # Names
//
// A pattern is a glob over provider:name, with *, ? and [...] as in path.Match; one without a
// colon matches the name in any provider. These are the patterns of the waymark command, except for
// markers that are declared without a provider: inside the process they have none, so "*:*" does
// not match them and "*" does.
//
// A glob stands for the markers that exist when it is passed to Match or Connect: all package-level
// markers of initialized packages. So connect in main, not in an init function, and connect once
// more after loading a plugin. A marker whose declaration is wrong is left out: [marker.All] has the
// error.
//
// A name that is no glob is connected in any case, also to markers that appear later;
// [Connection.Pending] returns the names that are still waited for, such as misspelt ones.
//
// # Guarantees
//
// The rules of package marker for probes hold: they are called by the goroutine that marks, many
// at once, in the order in which they were registered; their arguments are theirs during the call
// only; a probe that panics is disconnected, and [marker.OnProblem] is called. Arming a marker for a
// sink calls all its probes, also those that other code registered and left unarmed.
package sink

// Package cli is the waymark command: one file a verb, and what verbs share.
//
//	cli       the root command, exit statuses
//	env       the streams, messages, colour
//	errors    what is printed for an error, and the hint that helps
//	signals   what Ctrl-C does
//	target    -p PID, FILE, -- COMMAND and patterns
//	session   attaching, what ends it, the command's status
//	output    where results go: buffered, ended quietly by a broken pipe
//	text      making text from elsewhere harmless, columns
//	value     field values for people
//	json      field values and objects for programs
//
// Results go to standard output, or to standard error when a command is run whose output
// they would mix with. Everything else goes to standard error, in lines that begin with
// "waymark: ": lower case, without a full stop. Text that comes from a target or a file is
// never printed as it is.
package cli

// Package gocode finds the simple markers of a Go program in its code: which instructions
// are executed if and only if a marker is passed.
//
// A simple marker leaves no instruction, so one of another statement has to stand for it. The
// line table alone does not say which: what the compiler computes for a line it may compute
// ahead of a condition (branchelim), once for two lines (cse), or later (tighten). It moves,
// doubles and merges none of these, its witnesses:
//
//   - a call of a function that is not the runtime's, and those of the runtime's that are
//     operations of the language and have no condition, such as a send on a channel;
//   - a store to memory that is not on the stack;
//   - the return from a function.
//
// A marker's place is the begin of the code of the statement that follows it, when that code
// has a witness and nothing leads into its middle. Where the function is inlined the witnesses
// must be in each copy. A store and a return can go without a trace when a function is inlined,
// so they count only where it can be told that theirs is not.
//
// An anchored marker needs none of that: it leaves a nop with its own line (cmd/compile's
// inline mark), which stays where it is.
package gocode

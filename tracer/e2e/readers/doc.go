// Package readers tests what waymark's commands make of damaged and hostile inputs: executables, their notes,
// DWARF and types, relocatable and separate debug files, traces, rings, and the answers of agents.
package readers

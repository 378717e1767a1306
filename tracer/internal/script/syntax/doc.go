// Package syntax parses scripts: it turns text into a tree whose nodes have positions. Everything that the grammar of bpftrace
// has and this language lacks is refused here or by package check, by its name and with a replacement.
package syntax

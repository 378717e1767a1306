//go:build !marked

package main

// What package marker imports and nearly every program has: reflect, strings and time
// allocate a few objects when they are initialized, with markers or without.
import (
	_ "reflect"
	_ "strings"
	_ "time"
)

//go:noinline
func pass(n int, s string) {}

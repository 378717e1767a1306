//go:build !marked

package main

//go:noinline
func pass(n int, s string) {}

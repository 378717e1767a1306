//go:build !linux

package main

func threadTime() int64  { return 0 } // bench record is for Linux
func processTime() int64 { return 0 }

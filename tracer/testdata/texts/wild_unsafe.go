package main

import "unsafe"

// wildText is a string that points to where nothing is mapped.
func wildText() string {
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(nil), 0x1000)), 9)
}

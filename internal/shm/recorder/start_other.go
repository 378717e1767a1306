//go:build !linux

package recorder

func startTime() uint64 { return 0 }

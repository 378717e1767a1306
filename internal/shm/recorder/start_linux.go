package recorder

import (
	"bytes"
	"os"
	"strconv"
)

// startTime returns when the process was started, in clock ticks since boot, 0 when that is not known. With
// it a process number is a name that is not given twice.
func startTime() uint64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything; the times follow it (proc(5)).
	const behindName = 22 - 3
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= behindName {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[behindName]), 10, 64)
	return start
}

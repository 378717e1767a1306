package cli

import "os/exec"

// Plan 9 has no numbers of errors and signals.

func readerLeft(error) bool                     { return false }
func diskFull(error) bool                       { return false }
func endedBySignal(*exec.ExitError) (int, bool) { return 0, false }

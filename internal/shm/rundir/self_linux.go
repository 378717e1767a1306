package rundir

import (
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// Self returns the process that calls it.
func Self() (Process, error) {
	pid := os.Getpid()
	st, err := procfs.ReadStat(pid)
	if err != nil {
		return Process{}, fmt.Errorf("finding out when this process began: %w", err)
	}
	return Process{pid, st.Start}, nil
}

package tracer

import (
	"fmt"
	"os"
	"path/filepath"
)

// eventSources is the directory that describes the kernel's perf events. Tests replace it.
var eventSources = "/sys/bus/event_source/devices"

// haveCounters reports whether the kernel raises reference counters of uprobes, as Linux 4.20
// and later do. Without sysfs it assumes so.
func haveCounters() bool {
	if _, err := os.Stat(eventSources); err != nil {
		return true
	}
	_, err := os.Stat(filepath.Join(eventSources, "uprobe/format/ref_ctr_offset"))
	return err == nil
}

// errNoCounters reports a site with a reference counter that the kernel cannot raise. Such a site
// would never be hit.
var errNoCounters = fmt.Errorf("markers with reference counters need Linux 4.20 or later: %w", ErrNotSupported)

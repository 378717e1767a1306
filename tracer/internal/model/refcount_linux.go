package model

import (
	"fmt"
	"os"
	"path/filepath"
)

// EventSources is the directory that describes the kernel's perf events. Tests replace it.
var EventSources = "/sys/bus/event_source/devices"

// HaveCounters reports whether the kernel raises reference counters of uprobes, as Linux 4.20
// and later do. Without sysfs it assumes so.
func HaveCounters() bool {
	if _, err := os.Stat(EventSources); err != nil {
		return true
	}
	_, err := os.Stat(filepath.Join(EventSources, "uprobe/format/ref_ctr_offset"))
	return err == nil
}

// ErrNoCounters reports a site with a reference counter that the kernel cannot raise. Such a site
// would never be hit.
var ErrNoCounters = fmt.Errorf("markers with reference counters need Linux 4.20 or later: %w", ErrNotSupported)

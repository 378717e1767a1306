package bpf

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
)

// newMap makes a map. Before Linux 5.11 maps and programs count against RLIMIT_MEMLOCK, and
// raising it needs CAP_SYS_RESOURCE. Where that fails making the map says so.
func newMap(spec *ebpf.MapSpec) (*ebpf.Map, error) {
	_ = rlimit.RemoveMemlock()
	return ebpf.NewMap(spec)
}

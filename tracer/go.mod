module github.com/waymark-trace/waymark/tracer

go 1.25.0

require (
	github.com/cilium/ebpf v0.22.0
	github.com/google/go-cmp v0.7.0
	github.com/waymark-trace/waymark v0.1.0
	golang.org/x/arch v0.30.0
	golang.org/x/mod v0.40.0
	golang.org/x/sys v0.47.0
)

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
)

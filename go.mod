module github.com/waymark-trace/waymark

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/waymark-trace/waymark/tracer v0.1.0
	golang.org/x/arch v0.30.0
	golang.org/x/sys v0.47.0
)

require (
	github.com/cilium/ebpf v0.22.0 // indirect
	golang.org/x/mod v0.40.0 // indirect
	golang.org/x/net v0.58.0 // indirect
)

//go:build !linux

package bpf

// Watch is never made here.
type Watch struct{}

// Package headroom tells how much memory this process may still take before the kernel kills it for want of memory.
package headroom

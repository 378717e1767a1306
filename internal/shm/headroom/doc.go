// Package headroom measures how much memory this process can still use before the kernel's
// out-of-memory killer ends it.
package headroom

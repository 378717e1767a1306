// Package membarrier makes other threads of the process pass a barrier: membarrier(2), and
// where that is refused, a stop of the world.
package membarrier

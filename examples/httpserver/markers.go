package main

import "github.com/waymark-trace/waymark/marker"

// The markers of this server. Its operators see the names and fields, so they are kept together and
// documented.
var (
	// accept: a client connected.
	accept = marker.New1[string]("http:accept", "remote %s")

	// requestStart and requestEnd: a handler begins and ends, on one goroutine, so that the
	// time between the two is the request's.
	requestStart = marker.New2[string, uint64]("http:request_start", "path %s id %d")
	requestEnd   = marker.New4[string, uint64, int, int64]("http:request_end", "path %s id %d status %d bytes %d")

	// cacheHit and cacheMiss: a page was found ready, or had to be rendered.
	cacheHit  = marker.New1[string]("cache:hit", "key %s")
	cacheMiss = marker.New1[string]("cache:miss", "key %s")
)

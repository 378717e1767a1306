//go:build !nomarkers

package main

import (
	"errors"

	"github.com/waymark-trace/waymark/marker"
)

// Ten are passed by each request, four by each packet, and the others by each file, package, declaration,
// statement and expression.
var (
	requestBegin   = marker.New2[string, string]("jobs:request_begin", "method %s path %s")
	queryParsed    = marker.New1[int]("jobs:query_parsed", "parameters %d")
	userKnown      = marker.New1[string]("jobs:user_known", "name %s")
	cacheBegin     = marker.New1[string]("jobs:cache_begin", "key %s")
	cacheEnd       = marker.New2[string, bool]("jobs:cache_end", "key %s hit %t")
	itemsSorted    = marker.New1[int]("jobs:items_sorted", "items %d")
	encodeBegin    = marker.New1[int]("jobs:encode_begin", "items %d")
	encodeEnd      = marker.New1[int]("jobs:encode_end", "bytes %d")
	headersWritten = marker.New1[int]("jobs:headers_written", "status %d")
	requestEnd     = marker.New3[string, int, int]("jobs:request_end", "path %s status %d bytes %d")

	packetReceived = marker.New2[uint16, int]("jobs:packet_received", "port %d bytes %d")
	packetDecoded  = marker.New1[uint64]("jobs:packet_decoded", "sequence %d")
	packetAnswer   = marker.New1[uint64]("jobs:packet_answer", "sequence %d")
	packetSent     = marker.New2[uint16, int]("jobs:packet_sent", "port %d bytes %d")

	fileParsed     = marker.New2[string, int]("jobs:file_parsed", "name %s bytes %d")
	packageChecked = marker.New2[string, int]("jobs:package_checked", "path %s files %d")
	declaration    = marker.New2[string, int]("jobs:declaration", "name %s position %d")
	statement      = marker.New2[int, int]("jobs:statement", "position %d depth %d")
	expression     = marker.New2[int, int]("jobs:expression", "position %d depth %d")
)

var probes []*marker.Probe

func arm() error {
	for _, info := range marker.All() {
		p, err := marker.Register(info.Name, "", func(*marker.Event) {}, nil)
		if err == nil {
			err = marker.Arm(info.Name)
		}
		if err != nil {
			return err
		}
		probes = append(probes, p)
	}
	return nil
}

func disarm() error {
	var errs []error
	for _, info := range marker.All() {
		errs = append(errs, marker.Disarm(info.Name))
	}
	for _, p := range probes {
		p.Unregister()
	}
	probes = nil
	return errors.Join(errs...)
}

func hits() (n uint64) {
	for _, info := range marker.All() {
		n += info.Hits
	}
	return n
}

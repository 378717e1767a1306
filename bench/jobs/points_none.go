//go:build nomarkers

package main

// What the markers of points.go are without markers: nothing is left of a call.
type (
	none1[A any]       struct{}
	none2[A, B any]    struct{}
	none3[A, B, C any] struct{}
)

func (none2[A, B]) Enabled() bool { return false }

func (none1[A]) Mark(A)             {}
func (none2[A, B]) Mark(A, B)       {}
func (none3[A, B, C]) Mark(A, B, C) {}

var (
	requestBegin   none2[string, string]
	queryParsed    none1[int]
	userKnown      none1[string]
	cacheBegin     none1[string]
	cacheEnd       none2[string, bool]
	itemsSorted    none1[int]
	encodeBegin    none1[int]
	encodeEnd      none1[int]
	headersWritten none1[int]
	requestEnd     none3[string, int, int]

	packetReceived none2[uint16, int]
	packetDecoded  none1[uint64]
	packetAnswer   none1[uint64]
	packetSent     none2[uint16, int]

	fileParsed     none2[string, int]
	packageChecked none2[string, int]
	declaration    none2[string, int]
	statement      none2[int, int]
	expression     none2[int, int]
)

func arm() error    { return nil }
func disarm() error { return nil }
func hits() uint64  { return 0 }

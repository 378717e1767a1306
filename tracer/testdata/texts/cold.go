package main

import _ "embed"

// coldText is 64 KiB long, so that its end shares no page with anything that is read.
//
//go:embed cold.txt
var coldText string

package name

import "github.com/waymark-trace/waymark/marker"

var inTest = marker.New0("name:fine", "") // want `"name:fine" is declared twice`

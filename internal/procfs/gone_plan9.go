package procfs

import "io/fs"

// noProcess is an error number elsewhere; here are none.
var noProcess = fs.ErrNotExist

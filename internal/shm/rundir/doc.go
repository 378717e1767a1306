// Package rundir finds and protects the directory for the sockets of a user's processes, and for
// their rings, which outlive them.
//
//	<run-time directory>/waymark/<pid>-<start>.sock     of a process that listens
//	<run-time directory>/waymark/<pid>-<start>/*.ring   of a process that records or recorded
//
// The run-time directory is $XDG_RUNTIME_DIR, else /run/user/UID; where neither exists it is
// /dev/shm/waymark-UID, else waymark-UID in the directory for temporary files. Whatever the place, the
// directory itself belongs to the user, nobody else may enter it, and it is opened once and then
// used by its descriptor: who replaces a path by a link changes nothing for those who are inside.
package rundir

import "errors"

// ErrNotPrivate is wrapped by the errors of directories that somebody else owns, may enter or has
// replaced by a link.
var ErrNotPrivate = errors.New("it is not a directory of this user alone")

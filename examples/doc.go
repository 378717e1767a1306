// Package examples holds one program for each idea; its tests run those that are not Go.
//
//	minimal     one marker, marked in a loop
//	httpserver  a web server with markers where its operators want to look
//	tracepoint  Go-typed tracepoints, probes that mark them as basic types, sinks connected by name
//	agent       a program that is looked at without privilege, with a key to switch
//	scsi_c      simple markers in C: the example of the patch that proposed them
//	scsi_go     the same in Go
//	scripts     scripts for waymark run, each for a question of the cookbook
//	tick        a C program with a bare marker and one behind its reference counter
package examples

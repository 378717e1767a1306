// Package decl has markers where no tool finds them.
package decl

import (
	"os"

	"github.com/waymark-trace/waymark/marker"
)

const provider = "decl"

var (
	fine                                                                      = marker.New0("decl:fine", "")
	typed       marker.Marker1[int]                                           = marker.New1[int]("decl:typed", "n %d")
	two, three                                                                = marker.New0(provider+":two", ""), (marker.New0("decl:three", ""))
	unmade      marker.Marker1[int]                                                                                             // want `marker that no New made does nothing; write var unmade = marker.New…`
	boxed       any                                                           = marker.New0("decl:boxed", "")                   // want `put into an interface, which holds a copy`
	table                                                                     = []marker.Marker0{marker.New0("decl:table", "")} // want `marker "decl:table": made as part of something else`
	byName      map[string]marker.Marker0                                                                                       // want `marker as an element`
	pair        = struct{ m marker.Marker0 }{m: marker.New0("decl:pair", "")}                                                   // want `marker in a struct` `marker "decl:pair": made as part of something else`
	environment = marker.New0("decl:"+os.Getenv("HOME"), "")                                                                    // want `"decl:" \+ os.Getenv\("HOME"\): not a constant, so the marker is made when the program starts and waymark link does not find it`
	copied      = fine                                                                                                          // want `marker fine is copied, and the copy is not the one that is armed; use a pointer`
	pointers    = []*marker.Marker0{&fine, &two}
)

type server struct {
	start               marker.Marker0 // want `marker in a struct, where tools may miss it or its arguments; declare it`
	end                 *marker.Marker0
	marker.Marker1[int] // want `marker in a struct`
}

type sink interface {
	connect(m marker.Marker0) // want `marker passed by value`
	disconnect(m *marker.Marker0)
}

func local() {
	m := marker.New0("decl:local", "") // want `marker "decl:local": made in a function, where no tool finds it; declare it as a package-level variable, var x = marker.New…`
	m.Mark()
	p := &m
	p.Mark()
	fine.Mark()
	_ = fine
	_ = fine.Name()
	var zero marker.Marker0 // want `marker that no New made`
	zero.Mark()
}

func result() marker.Marker0 { // want `marker passed by value`
	return fine // want `marker fine is copied`
}

func parameter(m marker.Marker0, more ...marker.Marker0) { // want `marker passed by value` `marker as an element`
	m.Mark()
}

func copies(list []marker.Marker0, s *server) { // want `marker as an element`
	for _, m := range list { // want `marker m is copied`
		m.Mark()
	}
	for i := range list {
		list[i].Mark()
	}
	one := list[0]    // want `marker list\[0\] is copied`
	parameter(*s.end) // want `marker \*s.end is copied`
	s.start = one     // want `marker one is copied`
	var i any = fine  // want `marker fine is copied`
	_ = i
	_ = server{start: fine} // want `marker fine is copied`
	_ = []*marker.Marker0{s.end, &s.start}
	var c chan marker.Marker0 // want `marker as an element`
	c <- (fine)               // want `marker fine is copied`
}

var made = func() *marker.Marker0 {
	m := marker.New0("decl:closure", "") // want `made in a function`
	return &m
}()

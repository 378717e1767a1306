package main

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
)

// server serves pages that are expensive to render, out of a small cache.
type server struct {
	pages    *cache
	ids      atomic.Uint64
	accepted atomic.Int64
	started  atomic.Int64
	ended    atomic.Int64
}

func newServer(capacity int) *server {
	return &server{pages: newCache(capacity, render)}
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page/{key}", s.page)
	return s.marked(mux)
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, s.pages.get(r.PathValue("key")))
}

// marked puts markers around every request. Without the directive the compiler would copy its closures into handler,
// and inline nothing into the copies.
//
//go:noinline
func (s *server) marked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.started.Add(1)
		id := s.ids.Add(1)
		requestStart.Mark(r.URL.Path, id)
		reply := &response{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			s.ended.Add(1)
			requestEnd.Mark(r.URL.Path, id, reply.status, reply.bytes)
		}()
		next.ServeHTTP(reply, r)
	})
}

// response keeps the status and the number of bytes of a reply.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *response) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// listener marks every connection that it accepts.
type listener struct {
	net.Listener
	server *server
}

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.server.accepted.Add(1)
	// The address is formatted only while the marker is armed.
	if accept.Enabled() {
		accept.Mark(conn.RemoteAddr().String())
	}
	return conn, nil
}

// counts returns the program's own counts of its markers.
func (s *server) counts() map[string]int64 {
	return map[string]int64{
		"http:accept":        s.accepted.Load(),
		"http:request_start": s.started.Load(),
		"http:request_end":   s.ended.Load(),
		"cache:hit":          s.pages.hits.Load(),
		"cache:miss":         s.pages.misses.Load(),
	}
}

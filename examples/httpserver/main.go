// Command httpserver is a web server with markers where its operators want to look: a
// connection is accepted, a request starts and ends, its cache has a page or not.
//
//	httpserver                      serves on 127.0.0.1, on a port that it prints, until interrupted
//	httpserver -load 1000           sends itself 1000 requests and ends
//
// At its end it prints a line of JSON: how many requests of its own load were answered, and
// how often it passed each marker, by its own count.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/waymark-trace/waymark/agent/auto" // so that its user can look without privilege
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "httpserver:", err)
		os.Exit(1)
	}
}

// summary is the line that the program ends with.
type summary struct {
	Answered int64            `json:"answered"`
	Markers  map[string]int64 `json:"markers"`
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("httpserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:0", "`address` to listen on")
	pages := flags.Int("cache", 64, "`pages` that the cache keeps")
	var l load
	flags.IntVar(&l.requests, "load", 0, "send `N` requests to itself, then end")
	flags.IntVar(&l.clients, "clients", 4, "clients that send them")
	flags.DurationVar(&l.pause, "pause", 0, "pause of a client before each request")
	flags.IntVar(&l.keys, "keys", 512, "different pages that they ask for")
	watch := flags.Duration("watch", 0, "print what in-process probes saw, as a line of JSON, this often")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pages < 1 || l.requests < 0 || l.clients < 1 || l.keys < 1 {
		return errors.New("-cache, -clients and -keys must be positive, -load not negative")
	}

	if *watch > 0 {
		stop, err := watchMarkers(*watch, stdout)
		if err != nil {
			return err
		}
		defer stop()
	}
	s := newServer(*pages)
	end, err := s.serve(*addr, func(url string) (int64, error) {
		fmt.Fprintf(stdout, "listening on %s\n", url)
		if l.requests > 0 {
			return l.run(ctx, url)
		}
		<-ctx.Done()
		return 0, nil
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(summary{Answered: end, Markers: s.counts()})
}

// serve serves while use runs, and returns when every request has ended.
func (s *server) serve(addr string, use func(url string) (int64, error)) (int64, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return 0, err
	}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener{l, s}) }()

	n, err := use("http://" + l.Addr().String())

	// Otherwise the marker at a request's end could come after the program has counted it.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = errors.Join(err, web.Shutdown(ctx))
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return n, err
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

// probe counts the hits of a marker until the test ends.
func probe(t *testing.T, register func(n *atomic.Int64) (*marker.Probe, error), m *marker.Marker) *atomic.Int64 {
	t.Helper()
	n := new(atomic.Int64)
	p, err := register(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Arm(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Disarm(); err != nil {
			t.Error(err)
		}
		p.Unregister()
	})
	return n
}

func TestLoadIsCountedByMarkers(t *testing.T) {
	var bytesSent, ids atomic.Int64
	seen := map[string]*atomic.Int64{
		"http:accept": probe(t, func(n *atomic.Int64) (*marker.Probe, error) {
			return accept.Register(func(remote string) {
				if strings.HasPrefix(remote, "127.0.0.1:") {
					n.Add(1)
				}
			})
		}, &accept.Marker),
		"http:request_start": probe(t, func(n *atomic.Int64) (*marker.Probe, error) {
			return requestStart.Register(func(path string, id uint64) { n.Add(1); ids.Add(int64(id)) })
		}, &requestStart.Marker),
		"http:request_end": probe(t, func(n *atomic.Int64) (*marker.Probe, error) {
			return requestEnd.Register(func(path string, id uint64, status int, size int64) {
				if strings.HasPrefix(path, "/page/") && status == 200 {
					n.Add(1)
				}
				bytesSent.Add(size)
			})
		}, &requestEnd.Marker),
		"cache:hit": probe(t, func(n *atomic.Int64) (*marker.Probe, error) {
			return cacheHit.Register(func(string) { n.Add(1) })
		}, &cacheHit.Marker),
		"cache:miss": probe(t, func(n *atomic.Int64) (*marker.Probe, error) {
			return cacheMiss.Register(func(string) { n.Add(1) })
		}, &cacheMiss.Marker),
	}

	const requests = 200
	var stdout bytes.Buffer
	if err := run(context.Background(), []string{"-load", "200", "-clients", "3", "-cache", "8"}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	address, rest, _ := strings.Cut(stdout.String(), "\n")
	if !strings.HasPrefix(address, "listening on http://127.0.0.1:") {
		t.Errorf("first line is %q", address)
	}
	var got summary
	if err := json.Unmarshal([]byte(rest), &got); err != nil {
		t.Fatalf("%q: %v", rest, err)
	}

	if got.Answered != requests {
		t.Errorf("answered %d of %d", got.Answered, requests)
	}
	for name, n := range seen {
		if got.Markers[name] != n.Load() || n.Load() == 0 {
			t.Errorf("%s: the program counted %d, its marker %d", name, got.Markers[name], n.Load())
		}
	}
	if n := got.Markers["http:request_start"]; n != requests || got.Markers["http:request_end"] != requests {
		t.Errorf("%d started, %d ended, want %d", n, got.Markers["http:request_end"], requests)
	}
	if n := got.Markers["cache:hit"] + got.Markers["cache:miss"]; n != requests {
		t.Errorf("%d hits and misses, want %d", n, requests)
	}
	if want := int64(requests * (requests + 1) / 2); ids.Load() != want {
		t.Errorf("ids sum up to %d, want %d: one each", ids.Load(), want)
	}
	if bytesSent.Load() == 0 {
		t.Error("request_end said that nothing was sent")
	}
}

func TestServesUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var stdout bytes.Buffer
	if err := run(ctx, nil, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(stdout.String(), "}\n") {
		t.Errorf("no summary at the end: %q", stdout.String())
	}
}

func TestRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{"-clients", "0"}, {"-cache", "0"}, {"-keys", "0"}, {"-load", "-1"}, {"-addr", "nowhere"}} {
		if err := run(context.Background(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

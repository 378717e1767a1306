package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

// sighting is a line of -watch: what probes inside this program saw since the line before.
type sighting struct {
	Markers   map[string]int64 `json:"seen"`
	Latencies []time.Duration  `json:"latencies_ns"` // from request_start to request_end
}

// watcher is a set of probes: functions that this program connects to its own markers. They
// may be called from any goroutine at any time.
type watcher struct {
	mu      sync.Mutex
	seen    sighting
	started map[uint64]time.Time // requests that did not end yet, by id
}

func (w *watcher) count(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Markers[name]++
}

func (w *watcher) start(_ string, id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Markers["http:request_start"]++
	w.started[id] = time.Now()
}

func (w *watcher) end(_ string, id uint64, _ int, _ int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Markers["http:request_end"]++
	if at, ok := w.started[id]; ok {
		delete(w.started, id)
		w.seen.Latencies = append(w.seen.Latencies, time.Since(at))
	}
}

// take returns what was seen since it was last called.
func (w *watcher) take() sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen
	w.seen = sighting{Markers: make(map[string]int64)}
	return s
}

// watchMarkers connects probes to every marker of this program and prints what they see
// until stop is called.
func watchMarkers(every time.Duration, out io.Writer) (stop func(), err error) {
	w := &watcher{started: make(map[uint64]time.Time)}
	w.take()
	var disconnect []func()
	connect := func(m *marker.Marker, p *marker.Probe, e error) {
		if e == nil {
			e = m.Arm()
		}
		if e != nil {
			err = e
			return
		}
		disconnect = append(disconnect, func() { m.Disarm(); p.Unregister() })
	}
	p, e := accept.Register(func(string) { w.count("http:accept") })
	connect(&accept.Marker, p, e)
	p, e = requestStart.Register(w.start)
	connect(&requestStart.Marker, p, e)
	p, e = requestEnd.Register(w.end)
	connect(&requestEnd.Marker, p, e)
	p, e = cacheHit.Register(func(string) { w.count("cache:hit") })
	connect(&cacheHit.Marker, p, e)
	p, e = cacheMiss.Register(func(string) { w.count("cache:miss") })
	connect(&cacheMiss.Marker, p, e)

	lines := json.NewEncoder(out)
	done := make(chan struct{})
	var printing sync.WaitGroup
	printing.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				lines.Encode(w.take())
			case <-done:
				lines.Encode(w.take())
				return
			}
		}
	})
	return func() {
		for _, f := range disconnect {
			f()
		}
		close(done)
		printing.Wait()
	}, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// load is a bounded number of requests that the server sends to itself.
type load struct {
	requests int
	clients  int
	pause    time.Duration // of each client before each request
	keys     int           // different pages that are asked for
}

// run returns how many requests were answered with status 200.
func (l load) run(ctx context.Context, url string) (int64, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: l.clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}

	var taken, answered atomic.Int64
	errs := make([]error, l.clients)
	var wg sync.WaitGroup
	for i := range l.clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			// Some pages are asked for more often than others; the seed makes runs alike.
			pages := rand.NewZipf(rand.New(rand.NewPCG(1, uint64(i))), 1.2, 1, uint64(l.keys-1))
			for taken.Add(1) <= int64(l.requests) && ctx.Err() == nil {
				time.Sleep(l.pause)
				err := get(ctx, client, fmt.Sprintf("%s/page/%d", url, pages.Uint64()))
				if err != nil && ctx.Err() == nil { // not one that was cut short
					errs[i] = err
				}
				if err != nil {
					return
				}
				answered.Add(1)
			}
		}()
	}
	wg.Wait()
	return answered.Load(), errors.Join(errs...)
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		return fmt.Errorf("reading %s: %w", url, err)
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, reply.Status)
	}
	return nil
}

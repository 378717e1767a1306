package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
)

// cache keeps the pages that were rendered last.
type cache struct {
	capacity int
	render   func(key string) string
	hits     atomic.Int64
	misses   atomic.Int64

	mu    sync.Mutex
	pages map[string]string
	order []string // oldest first
}

func newCache(capacity int, render func(key string) string) *cache {
	return &cache{capacity: capacity, render: render, pages: make(map[string]string)}
}

func (c *cache) get(key string) string {
	c.mu.Lock()
	page, ok := c.pages[key]
	c.mu.Unlock()
	if ok {
		c.hits.Add(1)
		cacheHit.Mark(key)
		return page
	}
	c.misses.Add(1)
	cacheMiss.Mark(key)
	page = c.render(key)
	c.put(key, page)
	return page
}

func (c *cache) put(key, page string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pages[key]; ok {
		return // somebody else rendered it meanwhile
	}
	if len(c.order) == c.capacity {
		delete(c.pages, c.order[0])
		c.order = c.order[1:]
	}
	c.pages[key] = page
	c.order = append(c.order, key)
}

// render is about a millisecond of honest work.
func render(key string) string {
	sum := sha256.Sum256([]byte(key))
	for range 10_000 {
		sum = sha256.Sum256(sum[:])
	}
	return fmt.Sprintf("page %s: %x\n", key, sum)
}

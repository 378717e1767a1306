package main

import (
	"cmp"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

type item struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

// shop is a small web service: it knows users, keeps what it has computed, sorts and encodes.
type shop struct {
	mu    sync.Mutex
	users map[string]bool
	cache map[string][]item
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	requestBegin.Mark(r.Method, r.URL.Path)
	query := r.URL.Query()
	queryParsed.Mark(len(query))
	user := query.Get("user")
	s.mu.Lock()
	known := s.users[user]
	s.mu.Unlock()
	if !known {
		http.Error(w, "who?", http.StatusForbidden)
		return
	}
	userKnown.Mark(user)
	cacheBegin.Mark(r.URL.Path)
	s.mu.Lock()
	items, hit := s.cache[r.URL.Path]
	s.mu.Unlock()
	cacheEnd.Mark(r.URL.Path, hit)
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.Cents, b.Cents) })
	itemsSorted.Mark(len(items))
	encodeBegin.Mark(len(items))
	body, err := json.Marshal(items)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	encodeEnd.Mark(len(body))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	headersWritten.Mark(http.StatusOK)
	n, _ := w.Write(body)
	requestEnd.Mark(r.URL.Path, http.StatusOK, n)
}

func serveHTTP() (string, error) {
	s := &shop{users: map[string]bool{"ann": true}, cache: make(map[string][]item)}
	for i := range 8 {
		s.cache["/items"] = append(s.cache["/items"], item{i, "item " + strconv.Itoa(i), i * 7919 % 1000})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = http.Serve(l, s) }()
	return l.Addr().String(), nil
}

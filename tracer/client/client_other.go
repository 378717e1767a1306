//go:build !linux

package client

import "github.com/waymark-trace/waymark/tracer/internal/model"

// conn is never made here.
type conn struct{}

// leftRing is never made here.
type leftRing struct{}

func dial(int) (*conn, error) { return nil, model.ErrPlatform }

func (*conn) points() ([]Point, error)                       { return nil, model.ErrPlatform }
func (*conn) arm([]string) error                             { return model.ErrPlatform }
func (*conn) toggle([]string, bool) error                    { return model.ErrPlatform }
func (*conn) sessions() ([]Session, error)                   { return nil, model.ErrPlatform }
func (*conn) stopSession(string) error                       { return model.ErrPlatform }
func (*conn) startSession(*SessionOptions) (*Session, error) { return nil, model.ErrPlatform }
func (*conn) snapshot(string) (kept, error)                  { return nil, model.ErrPlatform }
func (*conn) wait()                                          {}
func (*conn) Close() error                                   { return nil }

func allSessions() ([]Session, error)             { return nil, model.ErrPlatform }
func openRing(*Session) (kept, error)             { return nil, model.ErrPlatform }
func openRingFile(string) (kept, *Session, error) { return nil, nil, model.ErrPlatform }
func removeSession(*Session) error                { return model.ErrPlatform }

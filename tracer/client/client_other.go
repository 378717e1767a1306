//go:build !linux

package client

import "github.com/waymark-trace/waymark/tracer/internal/model"

// conn is never made here.
type conn struct{}

func (*conn) Close() error { return nil }

// leftRing is never made here.
type leftRing struct{}

func Dial(int) (*Agent, error) { return nil, model.ErrPlatform }

func (*Agent) Points() ([]Point, error)                       { return nil, model.ErrPlatform }
func (*Agent) Arm([]string) error                             { return model.ErrPlatform }
func (*Agent) Switch([]string, bool) error                    { return model.ErrPlatform }
func (*Agent) Sessions() ([]Session, error)                   { return nil, model.ErrPlatform }
func (*Agent) StopSession(string) error                       { return model.ErrPlatform }
func (*Agent) StartSession(*SessionOptions) (*Session, error) { return nil, model.ErrPlatform }
func (*Agent) Snapshot(string) (*Ring, error)                 { return nil, model.ErrPlatform }
func (*Agent) Wait()                                          {}

func Sessions() ([]Session, error)                { return nil, model.ErrPlatform }
func openRing(*Session) (kept, error)             { return nil, model.ErrPlatform }
func openRingFile(string) (kept, *Session, error) { return nil, nil, model.ErrPlatform }
func (*Session) Remove() error                    { return model.ErrPlatform }

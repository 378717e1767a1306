//go:build !linux

package tracer

import "context"

func chooseEngine(Target) Engine { return EngineKernel }

func dialAgent(int) (*agentConn, error) { return nil, errPlatform }

// agentConn is never made here.
type agentConn struct{}

func (*agentConn) points() ([]Point, error)                       { return nil, errPlatform }
func (*agentConn) arm([]string) error                             { return errPlatform }
func (*agentConn) toggle([]string, bool) error                    { return errPlatform }
func (*agentConn) sessions() ([]Session, error)                   { return nil, errPlatform }
func (*agentConn) stopSession(string) error                       { return errPlatform }
func (*agentConn) wait()                                          {}
func (*agentConn) close() error                                   { return nil }
func (*agentConn) snapshot(string) (*Tracer, error)               { return nil, errPlatform }
func (*agentConn) startSession(*SessionOptions) (*Session, error) { return nil, errPlatform }

// leftRing is never made here.
type leftRing struct{}

func allSessions() ([]Session, error) { return nil, errPlatform }

func openRing(*Session) (*Tracer, error) { return nil, errPlatform }

func openRingFile(string) (*Tracer, *Session, error) { return nil, nil, errPlatform }

func removeSession(*Session) error { return errPlatform }

func startAgent(context.Context, []string, *StartOptions) (*command, error) { return nil, errPlatform }

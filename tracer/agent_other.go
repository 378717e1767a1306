//go:build !linux

package tracer

func chooseEngine(Target) (Engine, error) { return EngineKernel, errPlatform }

func dialAgent(int) (*agentConn, error) { return nil, errPlatform }

// agentConn is never made here.
type agentConn struct{}

func (*agentConn) points() ([]Point, error)     { return nil, errPlatform }
func (*agentConn) arm([]string) error           { return errPlatform }
func (*agentConn) toggle([]string, bool) error  { return errPlatform }
func (*agentConn) sessions() ([]Session, error) { return nil, errPlatform }
func (*agentConn) stopSession(string) error     { return errPlatform }
func (*agentConn) wait()                        {}
func (*agentConn) close() error                 { return nil }

// Package auto starts the agent of a program that imports it, for its effect alone:
//
//	import _ "github.com/waymark-trace/waymark/agent/auto"
//
// Package agent documents the effects and the cost, and the environment variable that prevents it.
package auto

import "github.com/waymark-trace/waymark/agent"

func init() { agent.Auto() }

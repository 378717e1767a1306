//go:build !linux

package model

import "context"

func findAll(context.Context) ([]Process, error) { return nil, ErrPlatform }

type resolver struct{}

func (resolver) resolve(*Marker, []string, []error) (*Marker, error) { return nil, ErrPlatform }

func (resolver) close() {}

func (*Marker) counters(int) ([]uint16, error) { return nil, ErrPlatform }

func (*File) readFunctions() []function { return nil }

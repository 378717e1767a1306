//go:build !linux

package kernelevent

import "github.com/waymark-trace/waymark/tracer/internal/model"

func planKernelEvents([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func defineKernelEvents([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func listKernelEvents() ([]Event, error) { return nil, model.ErrPlatform }

func deleteKernelEvent(string, string) error { return model.ErrPlatform }

//go:build !linux

package kernelevent

import "github.com/waymark-trace/waymark/tracer/internal/model"

func plan([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func define([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func list() ([]Event, error) { return nil, model.ErrPlatform }

func remove(string, string) error { return model.ErrPlatform }

//go:build !linux

package kernelevent

import "github.com/waymark-trace/waymark/tracer/internal/model"

func Plan([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func Define([]*model.Marker) ([]Event, error) { return nil, model.ErrPlatform }

func List() ([]Event, error) { return nil, model.ErrPlatform }

func Delete(string, string) error { return model.ErrPlatform }

package statickey_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/waymark-trace/waymark/statickey"
)

var (
	off = statickey.New("key:off")
	on  = statickey.NewOn("key:on")
)

func TestNesting(t *testing.T) {
	if off.Enabled() || !on.Enabled() {
		t.Fatal("wrong at the start")
	}
	for range 3 {
		if err := off.Enable(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if !off.Enabled() {
			t.Errorf("off after %d of 3", i)
		}
		if err := off.Disable(); err != nil {
			t.Fatal(err)
		}
	}
	if err := off.Disable(); !errors.Is(err, statickey.ErrNotEnabled) || off.Enabled() {
		t.Errorf("disabling what is off: %v", err)
	}
	if err := on.Disable(); err != nil || on.Enabled() {
		t.Errorf("disabling what began on: %v", err)
	}
	if err := on.Enable(); err != nil || !on.Enabled() {
		t.Error(err)
	}
	for i := range 65535 {
		if err := off.Enable(); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := off.Enable(); !errors.Is(err, statickey.ErrTooOften) {
		t.Errorf("enabling too often: %v", err)
	}
	for range 65535 {
		if err := off.Disable(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if off.Enable() != nil || !off.Enabled() || off.Disable() != nil {
					t.Error("went off under us")
					return
				}
			}
		})
	}
	wg.Wait()
	if off.Enabled() {
		t.Error("still on")
	}
}

func TestAllAndFind(t *testing.T) {
	found := map[string]int{}
	for _, i := range statickey.All() {
		found[i.Name] = i.Enabled
	}
	if n, ok := found["key:on"]; !ok || n != 1 {
		t.Errorf("All: %v", found)
	}
	if keys := statickey.Find("key:off"); len(keys) != 1 || keys[0] != &off {
		t.Errorf("Find: %v", keys)
	}
}

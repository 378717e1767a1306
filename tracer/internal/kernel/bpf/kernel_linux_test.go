package bpf

import (
	"errors"
	"os"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"golang.org/x/sys/unix"
)

// A kernel that lacks something is attached to in the best way that it has.
func TestFeaturesChooseMode(t *testing.T) {
	peer.Root(t)
	f := codeFile(t, 64)
	multi, cookies := askMulti, askCookies
	t.Cleanup(func() { askMulti, askCookies = multi, cookies })
	answer := func(err error) func() error { return func() error { return err } }
	for _, test := range []struct {
		multi, cookies error
		want           Mode
	}{
		{nil, nil, Multi},
		{ErrNotSupported, nil, Events},
		{ErrNotSupported, ErrNotSupported, EventsPlain},
		{unix.EPERM, unix.EPERM, Events}, // could not be told
		{unix.EPERM, ErrNotSupported, EventsPlain},
	} {
		if test.want == Multi && multi() != nil {
			continue
		}
		askMulti, askCookies = answer(test.multi), answer(test.cookies)
		mode, err := TryCount(f, 16, os.Getpid())
		if err != nil || mode != test.want {
			t.Errorf("uprobe_multi: %v, cookies: %v: mode %v, %v; want %v", test.multi, test.cookies, mode, err, test.want)
		}
		if err := TryTrace(f, 16, os.Getpid()); err != nil {
			t.Errorf("uprobe_multi: %v, cookies: %v: %v", test.multi, test.cookies, err)
		}
	}
	askMulti, askCookies = multi, cookies
	if err := askCookies(); err != nil && !errors.Is(err, ErrNotSupported) {
		t.Errorf("asking for cookies: %v", err)
	}
}

// Package keys has what is different with static keys.
package keys

import (
	"os"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
)

var (
	fast    = statickey.NewOn("keys:fast")
	slow    = statickey.New("keys:" + suffix())
	both    = marker.New0("keys:both", "")
	again   = statickey.New("keys:both") // want `key "keys:both" is declared twice: as marker in .*/keys \(keys.go:14\); a name is either's`
	invalid = statickey.New("keys:a.b")  // want `key "keys:a.b": name "a.b" has "." at byte 1`
)

func suffix() string { return os.Args[0] }

func use() {
	if fast.Enabled() {
		println(slow.Enabled())
	}
	k := statickey.New("keys:k") // want `key "keys:k": made in a function`
	k.Enable()
	c := fast // want `key fast is copied`
	c.Disable()
}

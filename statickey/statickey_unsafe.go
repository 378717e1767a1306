package statickey

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/patch"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// Key is a branch that is switched at run time. Declare it with New or NewOn.
type Key struct {
	_ noCopy

	// armed is the word that every site tests, its high half the number of times that the
	// key was enabled.
	armed uint32

	version uint16
	magic   [2]uint64

	name string
}

// noCopy makes go vet object to copies: a copy of a key is not the key.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

const (
	magic0  = markerabi.KeyMagic0
	magic1  = markerabi.KeyMagic1
	version = markerabi.Version
)

// New declares a key that is off, for a package-level variable.
func New(name string) Key {
	return Key{magic: [2]uint64{magic0, magic1}, version: version, name: name}
}

// NewOn declares a key that is on, as if enabled once, for a package-level variable.
func NewOn(name string) Key {
	return Key{magic: [2]uint64{magic0, magic1}, version: version, name: name, armed: point.OneArm}
}

// Enabled reports whether the key is on.
func (k *Key) Enabled() bool { return atomic.LoadUint32(&k.armed) != 0 }

// Name returns the key's name as declared, provider:name.
func (k *Key) Name() string { return k.name }

var (
	// ErrNotEnabled is returned by Disable for a key that is off.
	ErrNotEnabled = errors.New("key is not enabled")
	// ErrTooOften is returned by Enable for a key that was enabled 65535 times.
	ErrTooOften = errors.New("key is enabled too often")
	// ErrNotPatched is wrapped by errors of Enable and Disable in a program that was linked with
	// --optimize and may not write its own code. The key is unchanged then.
	ErrNotPatched = patch.ErrNotPatched
)

// Enable switches the key on. Calls nest: three calls need three of Disable.
func (k *Key) Enable() error {
	for {
		old := atomic.LoadUint32(&k.armed)
		if old>>16 == 0xffff {
			return point.Wrap("enabling key "+strconv.Quote(k.name), ErrTooOften)
		}
		if atomic.CompareAndSwapUint32(&k.armed, old, old+point.OneArm) {
			used.Add(k)
			if err := patch.Set(&k.armed); err != nil {
				k.undo(-point.OneArm)
				return point.Wrap("enabling key "+strconv.Quote(k.name), err)
			}
			return nil
		}
	}
}

// Disable undoes one Enable, or the one that NewOn stands for.
func (k *Key) Disable() error {
	for {
		old := atomic.LoadUint32(&k.armed)
		if old>>16 == 0 {
			return point.Wrap("disabling key "+strconv.Quote(k.name), ErrNotEnabled)
		}
		if atomic.CompareAndSwapUint32(&k.armed, old, old-point.OneArm) {
			if err := patch.Set(&k.armed); err != nil {
				k.undo(point.OneArm)
				return point.Wrap("disabling key "+strconv.Quote(k.name), err)
			}
			return nil
		}
	}
}

// undo reverts an addition to the armed word after patching the sites failed.
func (k *Key) undo(n int32) {
	atomic.AddUint32(&k.armed, uint32(n))
	_ = patch.Set(&k.armed) // other callers may have added some of them in the meantime
}

// Info describes a key of this program at one moment.
type Info struct {
	Name    string // as declared, provider:name
	Enabled int    // how often it was enabled and not disabled
	// Address is the key's address, from which package introspect finds its variable.
	Address uintptr
}

var used point.Set[*Key]

// All returns every key of the program, sorted by name. It finds package-level ones by
// reading the program's data, a few milliseconds for the largest of programs; others once
// they were enabled.
func All() []Info {
	var all []Info
	for _, k := range keys() {
		all = append(all, Info{Name: k.name, Enabled: int(atomic.LoadUint32(&k.armed) >> 16), Address: uintptr(unsafe.Pointer(k))})
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// Find returns the keys of this name. A program can have several.
func Find(name string) []*Key {
	return slices.DeleteFunc(keys(), func(k *Key) bool { return k.name != name })
}

func keys() []*Key {
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer, _ bool) {
		if k := (*Key)(p); k.version == version {
			used.Add(k)
		}
	})
	return used.List()
}

package marker

import "testing"

var unarmed = New0("registry:unarmed", "")

// A marker that could not be armed when its name was keeps the arms of its own.
func TestDisarmOfFailedArm(t *testing.T) {
	known.refresh()
	known.Lock()
	known.name("registry:unarmed").arms = 1 // as after an Arm of the marker, found later, failed
	known.Unlock()
	if err := unarmed.Arm(); err != nil {
		t.Fatal(err)
	}
	if err := Disarm("registry:unarmed"); err != nil {
		t.Fatal(err)
	}
	if !unarmed.Enabled() {
		t.Error("disarming the name took away an arm that Marker.Arm made")
	}
	if err := Arm("registry:unarmed"); err != nil {
		t.Fatal(err)
	}
	if err := unarmed.Disarm(); err != nil || !unarmed.Enabled() {
		t.Errorf("disarming the marker: %v, enabled %t; the name is armed", err, unarmed.Enabled())
	}
	if err := Disarm("registry:unarmed"); err != nil || unarmed.Enabled() {
		t.Errorf("disarming the name: %v, enabled %t", err, unarmed.Enabled())
	}
}

// A marker that is made in a function meets the probes that wait for its name when it is armed or has a probe of
// its own.
func TestMadeInFunction(t *testing.T) {
	for how, use := range map[string]func(m *Marker1[int]) error{
		"armed": func(m *Marker1[int]) error { return m.Arm() },
		"registered": func(m *Marker1[int]) error {
			_, err := m.Register(func(int) {})
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			name := "registry:made_" + how
			hits := 0
			probe, err := Register(name, "n %d", func(*Event) { hits++ }, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer probe.Unregister()
			m := New1[int](name, "n %d") //waymark:ignore what is tested
			m.Mark(1)
			if !probe.Pending() {
				t.Error("a marker that does no more than test was found")
			}
			if err := use(&m); err != nil {
				t.Fatal(err)
			}
			if probe.Pending() {
				t.Error("the probe is still pending")
			}
			if err := Arm(name); err != nil {
				t.Error(err)
			}
			m.Mark(2)
			if err := Disarm(name); err != nil {
				t.Error(err)
			}
			if hits != 1 {
				t.Errorf("%d hits, want 1", hits)
			}
		})
	}
}

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

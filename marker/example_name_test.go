package marker_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
)

var orderPlaced = marker.New1[int]("shop:order_placed", "id %d")

// The text of an event is formatted on request, by the marker's format.
func ExampleEvent() {
	probe := try(marker.Register("shop:order_placed", "id %d", func(e *marker.Event) {
		fmt.Printf("%s %s\n", e.Name(), e)
	}, nil))
	defer probe.Unregister()
	_ = marker.Arm("shop:order_placed")
	orderPlaced.Mark(7)
	_ = marker.Disarm("shop:order_placed")
	// Output: shop:order_placed id 7
}

// Arming nests: the marker is on until it has been disarmed as often as it was armed.
func ExampleArm() {
	_ = marker.Arm("shop:order_placed")
	_ = marker.Arm("shop:order_placed")
	_ = marker.Disarm("shop:order_placed")
	fmt.Println(orderPlaced.Enabled())
	_ = marker.Disarm("shop:order_placed")
	fmt.Println(orderPlaced.Enabled())
	fmt.Println(marker.Disarm("shop:order_placed"))
	fmt.Println(marker.Arm("shop:order_paid"))
	// Output:
	// true
	// false
	// disarming marker "shop:order_placed": marker is not armed
	// arming marker "shop:order_paid": no marker of this name was found and no probe waits for it
}

// A probe may wait for a marker that does not exist yet, such as one of a package that is initialized later.
func ExampleProbe_Pending() {
	probe := try(marker.Register("later:loaded", "path %s", func(*marker.Event) {}, nil))
	fmt.Println(probe.Pending(), marker.Arm("later:loaded"))
	_ = marker.Disarm("later:loaded")
	probe.Unregister()
	// Output: true <nil>
}

func refuse(id int) { panic("no such order") }

// A probe that panics is disconnected. The program goes on, and so do the other probes.
func ExampleOnProblem() {
	marker.OnProblem(func(err error) { fmt.Println(err) })
	defer marker.OnProblem(nil)
	try(orderPlaced.Register(refuse))
	other := try(orderPlaced.Register(func(id int) { fmt.Println("order", id) }))
	defer other.Unregister()
	_ = orderPlaced.Arm()
	orderPlaced.Mark(7)
	orderPlaced.Mark(8)
	_ = orderPlaced.Disarm()
	// Output:
	// marker "shop:order_placed": probe github.com/waymark-trace/waymark/marker_test.refuse panicked and was disconnected: no such order
	// order 7
	// order 8
}

// All lists every marker of the program.
func ExampleAll() {
	for _, m := range marker.All() {
		if m.Name == "shop:order_placed" {
			fmt.Println(m.Name, m.Format, m.Fields[0].Name, "armed:", m.Armed, "kernel:", m.Kernel, "probes:", len(m.Probes))
		}
	}
	// Output: shop:order_placed id %d id armed: 0 kernel: 0 probes: 0
}

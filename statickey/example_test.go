package statickey_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/statickey"
)

var verbose = statickey.New("app:verbose")

func Example() {
	request := func() {
		if verbose.Enabled() {
			fmt.Println("everything about the request")
		}
	}
	request()
	if err := verbose.Enable(); err != nil {
		fmt.Println(err)
	}
	request()
	if err := verbose.Disable(); err != nil {
		fmt.Println(err)
	}
	request()
	// Output: everything about the request
}

// Each Enable needs one Disable, so one user does not switch a key off for another.
func ExampleKey_Disable() {
	_ = verbose.Enable() // by the configuration
	_ = verbose.Enable() // by an operator, for an hour
	_ = verbose.Disable()
	fmt.Println(verbose.Enabled())
	_ = verbose.Disable()
	fmt.Println(verbose.Enabled(), verbose.Disable())
	// Output:
	// true
	// false disabling key "app:verbose": key is not enabled
}

var checks = statickey.NewOn("app:checks")

// A key that is on until it is switched off.
func ExampleNewOn() {
	fmt.Println(checks.Enabled())
	_ = checks.Disable()
	fmt.Println(checks.Enabled())
	_ = checks.Enable()
	// Output:
	// true
	// false
}

// Keys by name, as a flag or a page for operators would switch them.
func ExampleFind() {
	for _, key := range statickey.Find("app:verbose") {
		if err := key.Enable(); err != nil {
			fmt.Println(err)
		}
	}
	for _, i := range statickey.All() {
		if i.Name == "app:verbose" {
			fmt.Println(i.Name, i.Enabled)
		}
	}
	for _, key := range statickey.Find("app:verbose") {
		_ = key.Disable()
	}
	// Output: app:verbose 1
}

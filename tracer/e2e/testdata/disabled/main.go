// Command disabled is written by TestDisabledCode, which lays its program over this one.
package main

func main() {}

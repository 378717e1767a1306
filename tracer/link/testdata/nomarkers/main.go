// Command nomarkers has none.
package main

func main() {}

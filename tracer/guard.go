package tracer

// GuardMain enables a guard: a second process of the same executable that attaches to markers, and
// detaches when this process ends for any reason. Call it as the first statement of main, before
// flags are parsed and goroutines are started. In the guard it does not return.
//
//	func main() {
//		tracer.GuardMain()
//		…
//	}
//
// Programs that do not call GuardMain can trace too, but attach by themselves. If such a process
// gets SIGKILL in the milliseconds while it attaches or detaches, the kernel can leak reference
// counters, which waymark doctor -p PID --repair lowers. Processes stopped by Later.Pause at that
// moment stay stopped until they get SIGCONT.
//
// The guard runs the init functions of the program's packages, as every process of the program
// does. It refuses to run unless no_new_privs is set, so it gains no privilege over its parent.
func GuardMain() { guardMain() }

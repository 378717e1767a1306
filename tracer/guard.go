package tracer

// GuardMain lets this program have a guard: a second process of the same executable that attaches,
// and that detaches when this process ends, however it ends. The first statement of main calls it,
// before flags are parsed and before anything is started; in the guard it does not return.
//
//	func main() {
//		tracer.GuardMain()
//		…
//	}
//
// Programs that do not call it trace all the same, and attach by themselves. They lose this: if
// such a process gets SIGKILL within the milliseconds in which it attaches or detaches, the kernel
// can leave reference counters raised, which waymark doctor -p PID --repair lowers. And processes
// that Later.Pause has stopped at that moment stay stopped until they get SIGCONT.
//
// The guard runs the init functions of the program's packages, as every process of it does. It
// refuses to run unless no_new_privs is set, so it has no privilege that its starter lacks.
func GuardMain() { guardMain() }

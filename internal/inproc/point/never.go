package point

// Never is false. A site's slow path begins with a loop as long as it is true, for the sake of where the
// compiler puts that path.
//
// Of what it can put next, Go's compiler takes a block all of whose predecessors are placed (layoutOrder in
// cmd/compile/internal/ssa/layout.go, Go 1.25 and 1.26). Behind a site that is the slow path, not what
// follows it, which has two predecessors: the slow path would lie in line, and not to be armed would be a
// jump over it. The head of a loop has a predecessor that is not placed, its own end, so it waits until
// everything else is: not to be armed is to fall through. Only where things lie depends on this.
var Never bool

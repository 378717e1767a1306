package point

// Never is false. A site's slow path begins with a loop as long as it is true, which makes the
// compiler lay that path out of line.
//
// Among the candidates for the next block, Go's compiler takes one with all predecessors placed
// (layoutOrder in cmd/compile/internal/ssa/layout.go, Go 1.25 and 1.26). After a site that is the
// slow path, because the code after it has two predecessors: the slow path would lie in line, and an
// unarmed site would jump over it. The head of a loop has a predecessor that is not placed, its own
// end, so it is placed last, and an unarmed site falls through. Only the layout depends on this.
var Never bool

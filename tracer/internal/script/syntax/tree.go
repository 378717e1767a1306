package syntax

// ExprKind is the kind of an expression.
type ExprKind uint8

// The kinds of expressions.
const (
	IntExpr     ExprKind = iota // Value
	StrExpr                     // Name
	BoolExpr                    // Value
	WordExpr                    // Name: a built-in without parentheses
	VarExpr                     // Name
	ParamExpr                   // Value: the number of a positional parameter
	CountExpr                   // $#
	MapExpr                     // Name; Args are the keys
	FieldExpr                   // Args[0].Name
	ElemExpr                    // Args[0].Value, of a tuple
	CallExpr                    // Name(Args)
	UnaryExpr                   // Name Args[0]
	BinaryExpr                  // Args[0] Name Args[1]
	TernaryExpr                 // Args[0] ? Args[1] : Args[2]
	CastExpr                    // (Name)Args[0]
	TupleExpr                   // (Args)
	StepExpr                    // ++ or --, Name; Value is 1 if it is before its operand
)

// Expr is an expression.
type Expr struct {
	Kind ExprKind
	Span
	Name  string
	Value uint64
	Args  []*Expr
}

// StmtKind is the kind of a statement.
type StmtKind uint8

// The kinds of statements.
const (
	ExprStmt     StmtKind = iota // X; Op is _ if its value is discarded on purpose
	AssignStmt                   // Target Op X, where Op is = or += and so on
	LetStmt                      // Target, a variable; X or nil; Type or ""
	IfStmt                       // X, Body, Else
	WhileStmt                    // X, Body
	RangeStmt                    // Target over X..To
	MapRangeStmt                 // Target over X, a map
	UnrollStmt                   // X, Body
	BlockStmt                    // Body
	BreakStmt
	ContinueStmt
	ReturnStmt
)

// Stmt is a statement.
type Stmt struct {
	Kind StmtKind
	Span
	Op, Type      string
	Target, X, To *Expr
	Body, Else    []*Stmt
}

// Probe is one probe of an action block, as it is written.
type Probe struct {
	Span
	Provider string
	Parts    []string // what follows the provider, between colons
}

// Block is an action block.
type Block struct {
	Span
	Probes    []*Probe
	Predicate *Expr // nil without one
	Body      []*Stmt
}

// Setting is one assignment of the config block.
type Setting struct {
	Span
	Name string
	X    *Expr
}

// MapDecl is the declaration of a map with its size.
type MapDecl struct {
	Span
	Name, Type string
	Size       uint64
}

// Script is a parsed script.
type Script struct {
	File   *File
	Config []*Setting
	Maps   []*MapDecl
	Blocks []*Block
}

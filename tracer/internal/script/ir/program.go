package ir

import "github.com/waymark-trace/waymark/event"

// Op is the operation of an expression.
type Op uint8

// The operations. Integers are in 64 bits, extended by the sign of their type.
const (
	ConstInt  Op = iota // Int
	ConstText           // Text
	Local               // the variable in slot Index
	LoadMap             // the value of Map at the key Args[0], if there is one
	Field               // the value of the event's field Index
	Builtin             // Which
	Add
	Sub
	Mul
	Div
	Mod
	And
	Or
	Xor
	Shl
	Shr
	Equal // of integers, texts, tuples and floats, by the type of Args[0]
	NotEqual
	Less // Signed is how integers compare
	LessEqual
	Greater
	GreaterEqual
	AndAlso
	OrElse
	Not
	Choose     // Args[0] ? Args[1] : Args[2]
	Convert    // Args[0] as Type: an integer narrows or widens, an aggregation becomes its number, a number becomes a truth
	MakeTuple  // Args
	Elem       // element Index of Args[0]
	StepMap    // @m[key] += Int; Index is 1 for the value after it
	StepLocal  // $x += Int; Index is 1 for the value after it
	DeleteKey  // of Map at Args[0]; true if it was there
	HasKey     // Map has Args[0]
	MapLen     // the number of keys of Map
	LostKeys   // the number of updates of Map that were dropped because it was full
	Percentile // the bucket of Map at Args[0] at which Int percent of its values end
	StrNCmp    // Args[0], Args[1], at most Int bytes
	StrContains
	StrCut     // the first Int-1 bytes of Args[0]
	ToBuffer   // the first Args[1] bytes of Args[0], all of them without Args[1]
	FormatTime // strftime: Text is the format, Args[0] the time in nanoseconds
)

// Which is a built-in value.
type Which uint8

// The built-in values.
const (
	PID Which = iota
	TID
	CPU
	Comm
	Goroutine
	Nsecs
	Elapsed
	ProbeName
	ProbeType
)

// Expr is an expression with a type.
type Expr struct {
	Op    Op
	Which Which
	// Signed is whether Div, Mod, Shr and comparisons take their operands as signed.
	Signed bool
	// Key is set for a thread's number inside of a map's key.
	Key   bool
	Index int
	At    int // offset in the script
	Map   *Map
	Type  Type
	Int   int64
	Text  string
	Args  []*Expr
}

// StmtOp is the operation of a statement.
type StmtOp uint8

// The operations.
const (
	Do        StmtOp = iota // X, without its value
	SetLocal                // slot Index = X
	SetMap                  // Map at Key = X
	UpdateMap               // Map at Key = Map at Key Op X; Op is StmtOp's Binary
	Aggregate               // Map at Key takes X in; X is nil for count
	If
	While
	Range  // slot Index over X..To
	Each   // slot Index over Map
	Repeat // Body Int times
	Block
	Break
	Continue
	Return
	Printf   // Format, Args
	Errorf   // the same on standard error
	Warnf    // the same on standard error
	System   // the same as a command
	Print    // X
	PrintMap // Map; Int entries, all for 0; divided by To's constant Div
	ClearMap
	ZeroMap
	PrintTime // Text is the format
	Exit      // X is the status or nil
	Speculate // X is the key
	Commit
	Discard
)

// Stmt is a statement.
type Stmt struct {
	Op     StmtOp
	Binary Op
	Signed bool
	Index  int
	At     int
	Int    int64
	Div    int64
	Map    *Map
	Key    *Expr
	X, To  *Expr
	Format *Format
	Args   []*Expr
	Text   string
	Body   []*Stmt
	Else   []*Stmt
}

// Map is a map of the program.
type Map struct {
	Name    string
	Index   int
	Key     Type // None for a scalar
	Value   Type
	MaxKeys int
}

// Scalar reports whether the map has one value without a key.
func (m *Map) Scalar() bool { return m.Key.Base == None }

// Code is the compiled form of one action block for points with the same fields.
type Code struct {
	Predicate *Expr // nil without one
	Body      []*Stmt
	Locals    []Type // of the slots
	Fields    []int  // the fields of the event that it reads
	Builtins  uint   // a bit for each Which that it reads
}

// ProbeKind is the kind of a probe.
type ProbeKind uint8

// The kinds of probes.
const (
	Begin ProbeKind = iota
	End
	Interval
	Point
)

// Probe is one probe of the program, with wildcards expanded.
type Probe struct {
	Kind   ProbeKind
	Name   string // as the built-in probe has it
	Type   string // as the built-in probetype has it
	Period int64  // of an interval, in nanoseconds
	// Points are the points with the name of the probe whose fields are alike; a recording has one for each form of their values.
	Points []*event.Point
	Code   *Code
	At     int
}

// Program is a checked script, bound to the points of a target.
type Program struct {
	Probes []*Probe
	Maps   []*Map // by name
	Config Config
}

// Config has the settings of the config block.
type Config struct {
	MaxMapKeys     int
	MaxText        int // max_strlen
	MaxProbes      int
	Trailer        string // str_trunc_trailer
	PrintMaps      bool   // print_maps_on_exit
	MissingProbes  string // error, warn or ignore
	GoroutineAsTID bool   // tid_is = goroutine
}

// DefaultConfig returns the settings of a script without a config block.
func DefaultConfig() Config {
	return Config{MaxMapKeys: 4096, MaxText: 1024, MaxProbes: 1024, Trailer: "..", PrintMaps: true, MissingProbes: "error"}
}

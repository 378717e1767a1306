package ctf

// A node is a type at one place of a trace: alignments, byte orders and references to other fields
// are worked out, so that decoding and encoding only follow it.
type node struct {
	kind   kind
	typ    Type
	align  int64 // bits
	size   int   // bits of a number
	signed bool
	big    bool // byte order
	bytes  bool // elements are whole bytes
	role   role
	clock  *Clock // that it is a value of
	slot   int    // where later fields find its value, -1 when none asks
	from   int    // the slot that has a sequence's length or a variant's tag
	count  int    // of an array
	elem   *node
	fields []*node
	choice []int // for each of tag's labels which option it chooses, -1 for none
	tag    *Enum
}

type kind uint8

const (
	integerKind kind = iota
	floatKind
	stringKind
	structKind
	variantKind
	arrayKind
	sequenceKind
)

// role is the meaning of a field of a header or context for the reader, by its name and scope.
type role uint8

const (
	noRole role = iota
	magicRole
	uuidRole
	streamRole
	instanceRole
	beginRole
	endRole
	contentRole
	packetRole
	sequenceRole
	discardedRole
	cpuRole
	eventRole
	roleCount
)

// scope is one of the six structs that events are made of, in the order in which they are read.
type scope int

const (
	packetHeader scope = iota
	packetContext
	eventHeader
	streamEventContext
	eventContext
	eventPayload
	scopes
)

// scopeNames are the prefixes of absolute paths (specification, 7.3.2).
var scopeNames = [scopes]string{
	"trace.packet.header", "stream.packet.context", "stream.event.header",
	"stream.event.context", "event.context", "event.fields",
}

var roles = [scopes]map[string]role{
	packetHeader: {"magic": magicRole, "uuid": uuidRole, "stream_id": streamRole, "stream_instance_id": instanceRole},
	packetContext: {
		"timestamp_begin": beginRole, "timestamp_end": endRole, "content_size": contentRole, "packet_size": packetRole,
		"packet_seq_num": sequenceRole, "events_discarded": discardedRole, "cpu_id": cpuRole,
	},
}

// roleOf returns the role of a field at the top of a scope.
func roleOf(s scope, name string, t Type) role {
	r := roles[s][name]
	if _, isArray := t.(*Array); isArray != (r == uuidRole) {
		return noRole
	}
	return r
}

// streamNodes are the nodes of a stream class.
type streamNodes struct {
	packetContext, eventHeader, eventContext *node
}

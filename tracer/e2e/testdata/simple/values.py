# Prints the values of variables at addresses, as gdb knows them: one JSON object a hit.
# PLACES is a file with lines of: address, marker, function, expressions, as JSON. IN is what they are in,
# the program or a shared object; DEBUG is where separate debug files are.
import gdb, json, os, re, struct

def number(v):
    return str(int(v))

def text(v, limit):
    out = b""
    for i in range(limit):
        c = int(v[i]) & 0xff
        if c == 0:
            break
        out += bytes([c])
    return "text " + out.hex()

def canon(v):
    """The value as the test writes it, "-" for one that is not available."""
    t = v.type.strip_typedefs()
    if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return canon(v.referenced_value())
    if v.is_optimized_out:
        return "-"
    if t.code == gdb.TYPE_CODE_FLT:
        return "float " + struct.pack("<d", float(v)).hex()
    if t.code == gdb.TYPE_CODE_PTR:
        target = t.target().strip_typedefs()
        if target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and target.sizeof == 1:
            return text(v, 255) if int(v) else "nil"
        return "pointer" if int(v) else "nil"
    if t.code == gdb.TYPE_CODE_ARRAY:
        low, high = t.range()
        target = t.target().strip_typedefs()
        if target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and target.sizeof == 1:
            return text(v, high + 1)
        parts = [canon(v[i]) for i in range(low, high + 1)]
        return "-" if "-" in parts else "[" + " ".join(parts) + "]"
    return number(v)

def member(v, name):
    t = v.type.strip_typedefs()
    if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        v = v.referenced_value()
        t = v.type.strip_typedefs()
    if t.code == gdb.TYPE_CODE_PTR:
        v = v.dereference()
    return v[name]

def find(name, block, line):
    """The innermost symbol that is not declared below the marker."""
    while block:
        for symbol in block:
            if symbol.name == name and (symbol.line <= line or block.is_global or block.is_static):
                return symbol
        block = block.superblock
    return gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)

def look(name, block, line, frame):
    symbol = find(name, block, line)
    if symbol is not None:
        return symbol.value(frame) if symbol.needs_frame else symbol.value()
    this = find("this", block, line)
    if this is not None:
        return member(this.value(frame), name)
    raise gdb.error("no symbol " + name)

def scope(pc, function):
    """The innermost block of the function at pc, without what is inlined into it."""
    block = first = gdb.block_for_pc(pc)
    while block:
        if block.function:
            if block.function.name.split("(")[0].split("<")[0].split("::")[-1] == function:
                return first
            first = block.superblock
        block = block.superblock
    return None

def values(pc, function, line, expressions):
    frame, out = gdb.newest_frame(), {}
    block = scope(pc, function)
    for e in expressions:
        try:
            parts = re.split(r"->|\.", re.sub(r"^\(.*?\)", "", e))
            if block is None:
                raise gdb.error("no block")
            v = look(parts[0], block, line, frame)
            for name in parts[1:]:
                v = member(v, name)
            t = v.type.strip_typedefs()
            if t.code == gdb.TYPE_CODE_STRUCT:
                for f in t.fields():
                    try:
                        out[e + "." + f.name] = canon(v[f.name])
                    except (gdb.error, gdb.MemoryError):
                        out[e + "." + f.name] = "-"
            else:
                out[e] = canon(v)
                if e.startswith("("):
                    out[e] = "pointer" if int(v) else "nil"
        except (gdb.error, gdb.MemoryError) as problem:
            out[e] = "-"
    return out

class Place(gdb.Breakpoint):
    def __init__(self, base, address, marks):
        super().__init__("*%d" % (base + address), internal=True)
        self.marks = marks
    def stop(self):
        pc = gdb.newest_frame().pc()
        for m in self.marks:
            print("HIT " + json.dumps([m["marker"], values(pc, m["function"], m["line"], m["expressions"])]), flush=True)
        return False

places = json.load(open(os.environ["PLACES"]))
gdb.execute("set pagination off")
gdb.execute("set width 0")
gdb.execute("set print elements 0")
gdb.execute("set debug-file-directory " + os.environ["DEBUG"])
file = os.environ["IN"]
gdb.execute("file " + gdb.current_progspace().filename) # anew, with that directory
if file == gdb.current_progspace().filename:
    gdb.execute("starti > /dev/null", to_string=True)
else: # a shared object: until it is loaded
    gdb.execute("tbreak main", to_string=True)
    gdb.execute("run > /dev/null", to_string=True)
base = 0
with open(file, "rb") as f:
    dynamic = f.read(18)[16] == 3 # ET_DYN
if dynamic:
    for line in open("/proc/%d/maps" % gdb.selected_inferior().pid):
        if line.rstrip().endswith(" " + file) and int(line.split()[2], 16) == 0:
            base = int(line.split("-")[0], 16)
            break
    else:
        raise gdb.error(file + " is not loaded")
at = {}
for p in places:
    at.setdefault(p["address"], []).append(p)
for address, marks in at.items():
    Place(base, address, marks)
gdb.execute("continue", to_string=False)

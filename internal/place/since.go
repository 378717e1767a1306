package place

// since is what was executed of a function since it was entered: what is possible of these.
type since uint8

const (
	entered since = 1 << iota // no statement; or it was left since
	first                     // only the first statement
	beside                    // and others of its line
	past                      // and those of other lines
	head                      // and then of the first one's line again, further to the right: an increment
	again                     // the first statement, after past or beside
)

// event is the beginning of a statement.
type event struct {
	view  int  // of the address
	opens bool // the function is entered, or left
	// Where it is: the first statement; on its line, further to the right; on its line.
	first, right, line bool
}

// after returns what is possible behind an event.
func (e event) after(s since) since {
	one := func(s since) since {
		switch {
		case e.opens:
			return entered
		case s == again:
			return again
		case e.first && s&(entered|first|head) != 0:
			return first
		case e.first:
			return again
		case e.right && s&(past|head) != 0:
			return head
		case e.line && s&(first|beside) != 0:
			return beside
		}
		return past
	}
	var all since
	for bit := entered; bit <= again; bit <<= 1 {
		if s&bit != 0 {
			all |= one(bit)
		}
	}
	return all
}

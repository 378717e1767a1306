package recorder

// Stats are a session's counts up to now; exact after Stop.
type Stats struct {
	Events      uint64 // written; in overwrite mode they may be overwritten since
	Full        uint64 // lost: there was no room
	NoRing      uint64 // lost: GOMAXPROCS was raised beyond the rings
	Undescribed uint64 // lost: of markers that Problems tells of
	Filtered    uint64 // kept out by the condition
	Truncated   uint64 // events of which a text was cut
	Markers     int    // that are recorded
	// Problems are why markers are not recorded that were found or learned of later.
	Problems []error
}

// Stats returns the session's counts.
func (s *Session) Stats() Stats {
	s.counting.Lock()
	defer s.counting.Unlock()
	if s.final != nil {
		return *s.final
	}
	return s.stats()
}

func (s *Session) stats() Stats {
	var st Stats
	s.mu.Lock()
	st.Markers = len(s.recordings)
	st.Problems = append(st.Problems, s.problems...)
	s.mu.Unlock()
	s.file.Counts(func(events, full, filtered, truncated uint64) {
		st.Events += events
		st.Full += full
		st.Filtered += filtered
		st.Truncated += truncated
	})
	st.NoRing, st.Undescribed = s.file.Lost()
	return st
}

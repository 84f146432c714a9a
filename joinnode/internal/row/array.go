package row

// Items calls yield with each element of the JSON array in text, in order: its
// JSON text, whatever it is. It is for columns that hold an array, not for
// messages: see Elements. False means that text is no array, or is broken behind
// the elements that were yielded.
func Items(text []byte, yield func(item []byte)) bool {
	s := scanner{b: text}
	c, i := s.byteAt(0)
	if c != '[' {
		return false
	}
	end := s.eachElement(i, 0, func(_, at int) int {
		end, _ := s.any(at, 1)
		if end >= 0 {
			yield(text[at:end:end])
		}
		return end
	})
	return end >= 0 && s.rest(end) >= 0
}

package row

// fewNames is the number of names up to which comparing all of them beats a map.
const fewNames = 32

// nameSet is a set of names that is used over and over without allocation,
// unless there are many names. The names are not copied.
type nameSet struct {
	few  []string
	many map[string]struct{} // all names, once there are more than fewNames
}

// reset empties the set. Names added before are let go.
func (s *nameSet) reset() {
	clear(s.few)
	s.few = s.few[:0]
	clear(s.many)
}

// has says whether name is in the set.
func (s *nameSet) has(name string) bool {
	if len(s.few) > fewNames {
		_, ok := s.many[name]
		return ok
	}
	for _, n := range s.few {
		if n == name {
			return true
		}
	}
	return false
}

// add puts name into the set; false when it was there.
func (s *nameSet) add(name string) bool {
	if s.has(name) {
		return false
	}
	s.few = append(s.few, name)
	switch {
	case len(s.few) <= fewNames:
	case len(s.few) == fewNames+1:
		if s.many == nil {
			s.many = make(map[string]struct{}, 2*fewNames)
		}
		for _, n := range s.few {
			s.many[n] = struct{}{}
		}
	default:
		s.many[name] = struct{}{}
	}
	return true
}

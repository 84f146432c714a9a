package delegate

// EmitAll takes all rows or, with an error, none. They take one place in the
// queue together.
func (e *Engine) EmitAll(rows []map[string]any) error {
	if len(rows) == 1 {
		return e.Emit(rows[0])
	}
	accepted := make([]map[string]any, 0, len(rows))
	for _, r := range rows {
		r, err := e.accept(r)
		if err != nil {
			return err
		}
		if r != nil {
			accepted = append(accepted, r)
		}
	}
	return e.enqueue(work{run: func() {
		for _, r := range accepted {
			e.process(r)
		}
	}})
}

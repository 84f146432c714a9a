package script

// prune takes out the vertices that neither lead to an output nor hold rows that
// can be read: what only shaped rows for reading is done by the tables' views.
func (b *builder) prune() {
	p := b.program
	live := make([]bool, len(p.Vertices))
	var mark func(v int)
	mark = func(v int) {
		if live[v] {
			return
		}
		live[v] = true
		for _, port := range p.Vertices[v].Ports {
			if port.From == FromVertex {
				mark(port.Index)
			}
		}
	}
	for i := range p.Outputs {
		mark(p.Outputs[i].Vertex)
	}
	for i := range p.Tables {
		if r := p.Tables[i].Reader; r >= 0 {
			mark(r)
		}
	}
	at := make([]int, len(p.Vertices))
	kept := p.Vertices[:0]
	for v, vertex := range p.Vertices {
		if at[v] = -1; !live[v] {
			continue
		}
		for i := range vertex.Ports {
			if vertex.Ports[i].From == FromVertex {
				vertex.Ports[i].Index = at[vertex.Ports[i].Index]
			}
		}
		at[v] = len(kept)
		kept = append(kept, vertex)
	}
	p.Vertices = kept
	for i := range p.Outputs {
		p.Outputs[i].Vertex = at[p.Outputs[i].Vertex]
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Reader >= 0 {
			t.Reader = at[t.Reader]
		}
		var own []int
		for _, v := range t.Vertices {
			if at[v] >= 0 {
				own = append(own, at[v])
			}
		}
		t.Vertices = own
	}
}

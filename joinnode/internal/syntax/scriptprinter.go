package syntax

// PrintScript writes a script in its canonical form: a line for each statement,
// each with its semicolon, and in it what Print writes. Parsing the result gives
// the same script but for positions and its text.
func PrintScript(s *Script) string {
	var p printer
	for i, st := range s.Statements {
		if i > 0 {
			p.write("\n")
		}
		p.statement(st)
		p.write(";")
	}
	return p.String()
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *Import:
		p.write("IMPORT ")
		p.name([]Ident{s.Name})
		p.imported(s.Options)
	case *Export:
		p.write("EXPORT ")
		p.name(s.Name.Parts)
		p.write(" TO ")
		p.name([]Ident{s.To})
	case *Define:
		if len(s.Name.Parts) > 0 {
			p.name(s.Name.Parts)
			p.write(" := ")
		}
		p.query(s.Query)
		if s.Column != nil {
			p.expr(s.Column, lowest)
		}
	}
}

// imported writes the options of IMPORT without WITH, where that can be read.
func (p *printer) imported(options []Option) {
	for _, o := range options {
		if !importOption(o.Name) {
			p.with(options)
			return
		}
	}
	for _, o := range options {
		p.write(" ", o.Name, " ")
		p.value(o)
	}
}

// query writes a query of any kind; nil is none.
func (p *printer) query(q Query) {
	switch q := q.(type) {
	case *Select:
		p.selectStatement(q)
	case *DistinctOn:
		p.write("DISTINCT ")
		p.source(q.Source)
		p.list(" ON ", q.On)
		p.orderBy(q.OrderBy)
		p.with(q.With)
	case *StreamOn:
		p.write("STREAM ON ", q.On.String(), " AS ")
		p.selectStatement(q.Query)
	case *Relation:
		for i := range q.Joins {
			if i > 0 {
				p.write(" ")
			}
			p.join(&q.Joins[i])
		}
		p.orderBy(q.OrderBy)
	}
}

package syntax

// orDefault reads ?default behind x, which begins at pos, and returns the call
// of coalesce that it stands for. The mark binds more tightly than any operator
// in front of x or behind the default, so that -a?0 + 1 is -(a?0) + 1; the
// default itself may have a sign, and a default of its own.
func (p *parser) orDefault(pos Pos, x Expr) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.advance()
	otherwise, err := p.operand(primary)
	if err != nil {
		return nil, err
	}
	return &Call{Pos: pos, Name: "coalesce", Args: []Expr{x, otherwise}}, nil
}

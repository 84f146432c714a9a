package syntax

import "errors"

// within reads a WITHIN clause, if one stands next, into j. It is called in
// each place where the clause may stand; only one of them may have it.
//
// WITHIN is no reserved word. Behind the name of a joined source it is always
// the clause, never an alias; an alias of that name is written AS within.
func (p *parser) within(j *Join) error {
	for p.tok.is("WITHIN") {
		at := p.tok.pos
		if j.Within != nil {
			return p.errorAt(at, "keep the one behind the joined name or the one behind ON", "WITHIN is given twice for this JOIN")
		}
		p.advance()
		w := &Within{Pos: at}
		parens := p.accept("(")
		if err := p.withinDuration(w); err != nil {
			return err
		}
		if parens && !p.accept(")") {
			return p.unexpected(`")" to close WITHIN`)
		}
		j.Within = w
	}
	return nil
}

// durationFollows tells whether the word WITHIN in tok is meant as the clause.
func (p *parser) durationFollows() bool {
	next := p.peek(1)
	return next.kind == number || next.kind == text || next.is("(")
}

// withinDuration reads 30 SECONDS or '30s'.
func (p *parser) withinDuration(w *Within) error {
	t := p.tok
	spelling := t.value
	switch t.kind {
	case text:
		p.advance()
	case number:
		p.advance()
		if p.tok.kind != word || reserved(p.tok.upper) {
			return p.noUnit(t)
		}
		spelling += " " + p.advance().raw
		if p.tok.kind == number {
			return p.errorAt(p.tok.pos, "a duration of several parts is one string: WITHIN '1m30s'", "expected the rest of the JOIN, found %s", p.tok)
		}
	default:
		return p.noDuration()
	}
	d, err := ParseDuration(spelling)
	switch {
	case errors.Is(err, errDurationForm):
		return p.errorAt(t.pos, "write WITHIN 30 SECONDS or WITHIN '30s'", "%s is not a WITHIN duration: %v", t, err)
	case errors.Is(err, errDurationSize):
		return p.errorAt(t.pos, "write the longest time that two partners can be apart: rows are kept for that long", "WITHIN: %v", err)
	case err != nil:
		return p.errorAt(t.pos, unitHint, "WITHIN: %v", err)
	case d <= 0:
		return p.errorAt(t.pos, "", "WITHIN must be positive, at least 1 NS, found %s", clip(spelling))
	}
	w.D = d
	return nil
}

const unitHint = "the units are NS, US, MS, SECONDS, MINUTES, HOURS and DAYS"

func (p *parser) noUnit(n token) error {
	if p.tok.kind == invalid {
		return p.tok.err
	}
	return p.errorAt(p.tok.pos, unitHint, "WITHIN %s has no unit: expected one, found %s", clip(n.raw), p.tok)
}

func (p *parser) noDuration() error {
	if p.tok.is("-") && p.peek(1).kind == number {
		return p.errorAt(p.tok.pos, "", "WITHIN must be positive, found -%s", clip(p.peek(1).raw))
	}
	err := p.unexpected("a WITHIN duration")
	if p.tok.kind != invalid {
		err.Hint = "write WITHIN 30 SECONDS or WITHIN '30s'"
	}
	return err
}

package syntax

import (
	"errors"
	"strings"
	"time"
)

// beginsInterval tells whether the word INTERVAL stands next and is meant as the
// literal. A column may have that name.
func (p *parser) beginsInterval() bool {
	if !p.tok.is("INTERVAL") {
		return false
	}
	next := p.peek(1)
	return next.kind == number || next.kind == text
}

const intervalUnits = "the units are MS, SECONDS, MINUTES, HOURS, DAYS and WEEKS"

// interval reads INTERVAL 7 DAY, INTERVAL '7' DAY or INTERVAL '1h30m'.
func (p *parser) interval() (Expr, error) {
	e := &Interval{Pos: p.advance().pos}
	amount := p.advance()
	e.Text = amount.raw
	spelling := amount.value
	if amount.kind == number || isAmount(amount.value) {
		unit, err := p.intervalUnit(amount)
		if err != nil {
			return nil, err
		}
		e.Text += " " + unit
		spelling += " " + unit
	}
	d, err := ParseDuration(spelling)
	switch {
	case errors.Is(err, errDurationForm):
		return nil, p.errorAt(amount.pos, "write INTERVAL 7 DAY or INTERVAL '1h30m'", "%s is no INTERVAL: %v", amount, err)
	case errors.Is(err, errDurationSize):
		return nil, p.errorAt(amount.pos, "", "INTERVAL: %v", err)
	case err != nil:
		return nil, p.errorAt(amount.pos, unitAdvice(amount.value), "INTERVAL: %v", err)
	case d < 0:
		return nil, p.errorAt(amount.pos, "subtract it: t - INTERVAL 7 DAY", "an INTERVAL must not be negative, found %s", clip(spelling))
	case d%time.Millisecond != 0:
		return nil, p.errorAt(amount.pos, intervalUnits, "an INTERVAL has whole milliseconds, found %s", clip(spelling))
	}
	e.D = int64(d)
	return e, nil
}

// intervalUnit reads the unit behind an amount.
func (p *parser) intervalUnit(amount token) (string, error) {
	unit := p.tok
	switch {
	case unit.kind == invalid:
		return "", unit.err
	case unit.kind != word || reserved(unit.upper):
		return "", p.errorAt(unit.pos, intervalUnits, "INTERVAL %s has no unit: expected one, found %s", clip(amount.raw), unit)
	}
	if advice := calendarUnit(unit.upper); advice != "" {
		return "", p.errorAt(unit.pos, advice, "INTERVAL: a %s has no fixed length", strings.TrimSuffix(unit.upper, "S"))
	}
	if _, ok := unitOfTime(unit.raw); !ok {
		return "", p.errorAt(unit.pos, intervalUnits, "INTERVAL: %s is no unit of time", clip(unit.raw))
	}
	p.advance()
	if p.tok.kind == number {
		return "", p.errorAt(p.tok.pos, "an interval of several parts is one string: INTERVAL '1h30m'", "expected the end of the INTERVAL, found %s", p.tok)
	}
	return unit.raw, nil
}

// isAmount tells whether the text of an INTERVAL is a number that its unit
// follows outside the quotes.
func isAmount(s string) bool {
	l := newLexer(s)
	n := l.next()
	if n.is("-") || n.is("+") {
		n = l.next()
	}
	return n.kind == number && l.next().kind == endOfText
}

// calendarUnit returns what to write instead of a unit whose length depends on
// the calendar, "" for any other.
func calendarUnit(upper string) string {
	switch upper {
	case "MONTH", "MONTHS", "MON", "MONS", "QUARTER", "QUARTERS":
		return "count in days, as INTERVAL 30 DAY, or group by endOfMonth(t) for calendar months"
	case "YEAR", "YEARS", "Y":
		return "count in days, as INTERVAL 365 DAY, or group by endOfYear(t) for calendar years"
	}
	return ""
}

// namesTime tells whether a word looks like a unit of time.
func namesTime(t token) bool {
	_, unit := unitOfTime(t.raw)
	return unit || calendarUnit(t.upper) != ""
}

// unitAdvice returns the hint for a text with a word that is no unit of time.
func unitAdvice(s string) string {
	l := newLexer(s)
	for t := l.next(); t.kind != endOfText && t.kind != invalid; t = l.next() {
		if advice := calendarUnit(t.upper); advice != "" {
			return advice
		}
	}
	return intervalUnits
}

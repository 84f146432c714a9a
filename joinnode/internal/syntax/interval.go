package syntax

import (
	"errors"
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

const (
	intervalForm = "write INTERVAL 7 DAY or INTERVAL '1h30m'"
	intervalUnit = "the units are MS, SECONDS, MINUTES, HOURS, DAYS and WEEKS"
)

// interval reads INTERVAL 7 DAY, INTERVAL '7' DAY or INTERVAL '1h30m'.
func (p *parser) interval() (Expr, error) {
	e := &Interval{Pos: p.advance().pos}
	amount := p.advance()
	e.Text = amount.raw
	spelling := amount.value
	if amount.kind == number || isAmount(amount.value) {
		if p.tok.kind != word || reserved(p.tok.upper) {
			if p.tok.kind == invalid {
				return nil, p.tok.err
			}
			return nil, p.errorAt(p.tok.pos, intervalUnit, "INTERVAL %s has no unit: expected one, found %s", clip(amount.raw), p.tok)
		}
		unit := p.advance()
		if advice := calendarUnit(unit.upper); advice != "" {
			return nil, p.errorAt(unit.pos, advice, "%s is no INTERVAL: its length differs", unit.upper)
		}
		if _, ok := unitOfTime(unit.raw); !ok {
			return nil, p.errorAt(unit.pos, intervalUnit, "INTERVAL: %s is no unit of time", clip(unit.raw))
		}
		e.Text += " " + unit.raw
		spelling += " " + unit.raw
		if p.tok.kind == number {
			return nil, p.errorAt(p.tok.pos, "an interval of several parts is one string: INTERVAL '1h30m'", "expected the end of the INTERVAL, found %s", p.tok)
		}
	}
	d, err := ParseDuration(spelling)
	switch {
	case errors.Is(err, errDurationForm):
		return nil, p.errorAt(amount.pos, intervalForm, "%s is no INTERVAL: %v", amount, err)
	case errors.Is(err, errDurationSize):
		return nil, p.errorAt(amount.pos, "", "INTERVAL: %v", err)
	case err != nil:
		advice := calendarUnit(lastWord(amount.value))
		if advice == "" {
			advice = intervalUnit
		}
		return nil, p.errorAt(amount.pos, advice, "INTERVAL: %v", err)
	case d < 0:
		return nil, p.errorAt(amount.pos, "subtract it: t - INTERVAL 7 DAY", "an INTERVAL must not be negative, found %s", clip(spelling))
	case d%time.Millisecond != 0:
		return nil, p.errorAt(amount.pos, intervalUnit, "an INTERVAL has whole milliseconds, found %s", clip(spelling))
	}
	e.D = int64(d)
	return e, nil
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

// lastWord returns the last word of s in upper case.
func lastWord(s string) string {
	l := newLexer(s)
	last := ""
	for t := l.next(); t.kind != endOfText && t.kind != invalid; t = l.next() {
		if t.kind == word {
			last = t.upper
		}
	}
	return last
}

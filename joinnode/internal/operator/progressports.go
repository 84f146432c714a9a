package operator

// progressPorts makes the progress of an output of that of two ports: Low is the
// least of the ports that are not idle, Seen the greatest. Neither falls. While
// both are idle the output is, and stays where it is.
type progressPorts struct {
	ports [2]Progress
	out   Progress // as last told
}

func newProgressPorts() progressPorts {
	none := Progress{Seen: unseen, Low: unseen}
	return progressPorts{ports: [2]Progress{none, none}, out: none}
}

// advance notes how far a port has come.
func (p *progressPorts) advance(port int, to Progress) {
	at := &p.ports[port]
	at.Seen, at.Low, at.Idle = max(at.Seen, to.Seen), max(at.Low, to.Low), to.Idle
}

func (p *progressPorts) seen() int64 { return max(p.ports[0].Seen, p.ports[1].Seen) }

// raise returns the output's progress; false when it is as it was.
func (p *progressPorts) raise() (Progress, bool) {
	a, b := &p.ports[0], &p.ports[1]
	now := Progress{Seen: p.seen(), Low: p.out.Low, Idle: a.Idle && b.Idle}
	switch {
	case now.Idle:
	case a.Idle:
		now.Low = max(now.Low, b.Low)
	case b.Idle:
		now.Low = max(now.Low, a.Low)
	default:
		now.Low = max(now.Low, min(a.Low, b.Low))
	}
	changed := now != p.out
	p.out = now
	return now, changed
}

package script

import (
	"slices"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// boundOf says in words what bounds the state of the statement that n is the
// result of.
func boundOf(n node) string {
	var parts []string
	seen := map[node]bool{}
	collect(n, n.base().table, seen, &parts)
	if len(parts) == 0 {
		return "no state"
	}
	return strings.Join(parts, "; ")
}

func collect(n node, table string, seen map[node]bool, parts *[]string) {
	if n == nil || seen[n] || n.base().table != table {
		return
	}
	seen[n] = true
	say := func(s string) {
		if !slices.Contains(*parts, s) {
			*parts = append(*parts, s)
		}
	}
	ttl := func(ns int64) string {
		if ns == 0 {
			return ""
		}
		return ", untouched for less than " + spanText(ns)
	}
	for _, in := range n.inputs() {
		collect(in, table, seen, parts)
	}
	switch n := n.(type) {
	case *dedupNode:
		say("one row for each key" + ttl(n.ttl))
	case *recencyNode:
		say("rows while " + n.cond)
	case *groupNode:
		switch {
		case n.bucket >= 0:
			say("one row for each group of the time windows that the watermark has not passed")
		case len(n.groups) == 0:
			say("one row")
		default:
			say("one row for each group" + ttl(n.ttl))
		}
	case *joinNode:
		switch n.how {
		case temporal:
			say("rows until both watermarks have reached them; the newest version of each key, older ones until both watermarks have passed them")
		case interval:
			if n.behind > 0 {
				say("rows of the joined streams for " + spanText(n.kept()) + ", those of " + originOf(n.in[1]) + " for " + spanText(n.kept()+n.behind))
			} else {
				say("rows of both streams for " + spanText(n.kept()))
			}
		default:
			for s := range n.in {
				if n.in[s].kind() == Stream {
					say("every row of the stream " + originOf(n.in[s]) + ttl(n.ttl))
				} else {
					say("every row of " + originOf(n.in[s]) + ttl(n.ttl))
				}
			}
		}
	}
}

func spanText(ns int64) string { return syntax.FormatDuration(time.Duration(ns)) }

// originOf names what the rows of one side of a join come from.
func originOf(n node) string {
	switch n := n.(type) {
	case *aliasNode:
		if s, ok := n.in.(*stampNode); ok {
			return s.in.base().table
		}
	case *unnestNode, *foldNode, *extendNode, *filterNode, *recencyNode:
		return originOf(n.inputs()[0])
	}
	return "the sources before it"
}

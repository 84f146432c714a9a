package script

import "slices"

// pushDown puts a node that makes rows of the parts of one alias's row, and gives
// them the alias made, as near to that row's source as the joins on the way allow:
// so the joins keep the parts that are used instead of whole arrays, each part is
// read once, and what cannot be read is told of with the row that it came in. wrap
// makes the node over its input. keys tell the parts of a row apart.
func (q *query) pushDown(alias, made string, wrap func(node) node, keys []ref) {
	q.ident = append(q.ident[:len(q.ident):len(q.ident)], keys...)
	var place func(n node) (out node, outer node)
	place = func(n node) (node, node) {
		j, ok := n.(*joinNode)
		if !ok || j.how != relational {
			return wrap(n), nil
		}
		side := j.side(refOf(alias))
		if side == 1 && j.left {
			return wrap(n), nil // a row without parts is a row without a match, and no row at all
		}
		in, outer := place(j.in[side])
		j.in[side] = in
		if side == 1 {
			j.right[made] = true
		}
		j.ident = append(j.ident[:len(j.ident):len(j.ident)], keys...)
		if outer == nil {
			outer = j
		}
		return j, outer
	}
	n, before := place(q.node)
	q.node = n
	q.insert(n, before)
}

// sink puts a node that lets some of the rows pass as near as possible to the
// aliases that it reads. wrap makes it over its input, whose rows ident tells
// apart; or it makes what is there already do.
func (q *query) sink(aliases map[string]bool, wrap func(in node, ident []ref) node) {
	ident := q.ident
	var before node
	var place func(n node) node
	place = func(n node) node {
		j, ok := n.(*joinNode)
		if !ok || j.how != relational || len(aliases) == 0 {
			return wrap(n, ident)
		}
		var reads [2]bool
		for a := range aliases {
			reads[j.side(refOf(a))] = true
		}
		side := 0
		if reads[1] {
			side = 1
		}
		if reads[0] && reads[1] || side == 1 && j.left {
			return wrap(n, ident)
		}
		var own []ref
		for _, r := range ident {
			if j.side(r) == side {
				own = append(own, r)
			}
		}
		ident, before = own, j
		j.in[side] = place(j.in[side])
		return j
	}
	q.node = place(q.node)
	q.insert(q.node, before)
}

// insert makes the new nodes part of the script: in front of the join that reads
// them, or at the end.
func (q *query) insert(n, before node) {
	var fresh []node
	at := len(q.b.nodes)
	top := n
	if before != nil {
		at = slices.Index(q.b.nodes, before)
		for _, in := range before.inputs() {
			if !slices.Contains(q.b.nodes, in) {
				top = in
			}
		}
	}
	for x := top; !slices.Contains(q.b.nodes, x); x = x.inputs()[0] {
		x.base().table = q.b.table
		fresh = append([]node{x}, fresh...)
	}
	q.b.nodes = slices.Insert(q.b.nodes, at, fresh...)
}

package plan

import (
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// column is one resolved column: a path into the rows of one input. The empty
// path is the whole row.
type column struct {
	input int
	path  row.Path
}

// id identifies a column within a query.
func (c column) id() string { return strconv.Itoa(c.input) + " " + c.path.String() }

// names resolves the names of one statement.
type names struct {
	sql    string
	inputs []Input // the plan's, bound so far
}

// maxInputs is how many streams a query may join: a result knows by a bit of a
// 64-bit word which of them are NULL.
const maxInputs = 64

// bindNames collects streams and aliases and refuses names that could mean two
// things.
func (b *builder) bindNames() error {
	sources := []syntax.Source{b.stmt.From}
	for i := range b.stmt.Joins {
		sources = append(sources, b.stmt.Joins[i].Source)
	}
	if len(sources) > maxInputs {
		return b.errorf(sources[maxInputs].Pos, ErrUnsupported, "join in two queries, the second one reading the results of the first",
			"a query joins at most %d streams, this one has %d", maxInputs, len(sources))
	}
	streams, aliases := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		if streams[s.Name] {
			return b.errorf(s.Pos, ErrDuplicateName, "a stream can be joined once; feed a copy under another name to join it with itself",
				"duplicate input stream name %q", s.Name)
		}
		alias := s.Alias
		if alias == "" {
			alias = s.Name
		}
		if aliases[alias] {
			return b.errorf(s.Pos, ErrDuplicateName, "give each stream its own alias with AS",
				"duplicate alias %q", alias)
		}
		streams[s.Name], aliases[alias] = true, true
		b.plan.Inputs = append(b.plan.Inputs, Input{Stream: s.Name, Alias: alias, TimeCol: -1})
	}
	b.names = &names{sql: b.sql, inputs: b.plan.Inputs}
	b.plan.names = b.names
	return nil
}

// resolve finds the column that c names among the first bound inputs. A name
// without alias is a field of the FROM stream, as in StreamSQL's merged rows;
// a bare alias is that input's whole row.
func (n *names) resolve(c *syntax.Column, bound int) (column, error) {
	first := c.Path[0]
	for i := range n.inputs {
		if n.inputs[i].Alias != first.Name {
			continue
		}
		if i >= bound {
			return column{}, newError(n.sql, c.Pos, ErrUnknownName, "ON may use the sources that stand before it and the one it joins",
				"%q is joined later", first.Name)
		}
		return column{input: i, path: row.Path(c.Path[1:])}, nil
	}
	if len(c.Path) > 1 && !c.Path[1].IsIndex {
		return column{}, newError(n.sql, c.Pos, ErrUnknownName, n.aliasHint(first.Name, c),
			"unknown alias %q", first.Name)
	}
	return column{input: 0, path: row.Path(c.Path)}, nil
}

// aliasHint lists what could have been meant: the full stream name where only
// its alias is known, else the aliases there are.
func (n *names) aliasHint(name string, c *syntax.Column) string {
	var known []string
	for i := range n.inputs {
		if n.inputs[i].Stream == name {
			return "the stream " + name + " goes by its alias here: write " + n.inputs[i].Alias
		}
		known = append(known, n.inputs[i].Alias)
	}
	return "known aliases: " + strings.Join(known, ", ") + "; a nested field of the FROM stream is written " +
		n.inputs[0].Alias + "." + row.Path(c.Path).String()
}

// columnsOf appends the columns that e reads, in order of appearance, each once.
func (n *names) columnsOf(e syntax.Expr, into []column) ([]column, error) {
	var failed error
	seen := map[string]bool{}
	for _, c := range into {
		seen[c.id()] = true
	}
	syntax.Walk(e, func(x syntax.Expr) bool {
		c, ok := x.(*syntax.Column)
		if !ok || failed != nil {
			return failed == nil
		}
		col, err := n.resolve(c, len(n.inputs))
		if err != nil {
			failed = err
			return false
		}
		if !seen[col.id()] {
			seen[col.id()] = true
			into = append(into, col)
		}
		return true
	})
	return into, failed
}

// text spells a column as a user would write it.
func (n *names) text(c column) string {
	if len(c.path) == 0 {
		return n.inputs[c.input].Alias + ".*"
	}
	return n.inputs[c.input].Alias + "." + c.path.String()
}

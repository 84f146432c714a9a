package delegate

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// tableJoin is one JOIN with a table. The engine looks tables up itself:
// streamsql takes the left side of ON for the stream's whatever its alias says,
// resolves fields of joined tables in few of its expressions, and finds NULL
// under the stream's own alias inside windows.
type tableJoin struct {
	table, alias string
	left         bool
	stream       [][]syntax.Step // fields of the stream, in the order of key
	key          []string        // fields of the table
}

// tableJoin reads a JOIN, with the sides of ON either way round.
func (c *compiler) tableJoin(j syntax.Join) (tableJoin, error) {
	join := tableJoin{table: j.Source.Name, alias: alias(j.Source), left: j.Kind == syntax.LeftJoin}
	if _, err := c.name(join.alias, j.Source.Pos); err != nil {
		return join, err
	}
	hint := fmt.Sprintf("ON %s.field = %s.field [AND …]", alias(c.stmt.From), join.alias)
	var read func(e syntax.Expr) error
	read = func(e syntax.Expr) error {
		b, ok := e.(*syntax.Binary)
		if ok && b.Op == "AND" {
			if err := read(b.X); err != nil {
				return err
			}
			return read(b.Y)
		}
		if !ok || b.Op != "=" {
			return c.unsupported(e.Position(), hint, "ON takes equalities of fields joined by AND")
		}
		x, okx := b.X.(*syntax.Column)
		y, oky := b.Y.(*syntax.Column)
		if !okx || !oky {
			return c.unsupported(e.Position(), hint, "ON compares fields only")
		}
		xt, yt := c.owner(x, j), c.owner(y, j)
		if xt == "table" && yt != "table" || yt == "stream" && xt != "stream" {
			x, y, xt, yt = y, x, yt, xt
		}
		if yt == "stream" || xt == "table" || xt == "other" || yt == "other" {
			return c.unsupported(e.Position(), hint, "ON must link a field of the stream with a field of the table")
		}
		key := y.Path
		if yt == "table" {
			key = key[1:]
		}
		if len(key) != 1 || key[0].IsIndex {
			return c.unsupported(y.Pos, "give the table a flat key column", "a table's key cannot be a nested field")
		}
		join.stream = append(join.stream, c.localPath(x))
		join.key = append(join.key, key[0].Name)
		return nil
	}
	return join, read(j.On)
}

// keyValue makes numbers that streamsql's tables tell apart by their Go type
// alike.
func keyValue(v any) any {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	}
	return v
}

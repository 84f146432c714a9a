package delegate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// orderGroups makes the order of a window's rows a function of the rows that went
// in: streamsql takes its groups out of a map, so that they leave, and LIMIT
// picks, at random. The grouping columns follow those of ORDER BY in streamsql's
// own sorting, in front of LIMIT. Where there is no ORDER BY the names of the
// columns are returned, by which sortRows then sorts: streamsql's comparison of
// values of different kinds is no order.
func orderGroups(config *types.Config) (columns []string) {
	chosen := len(config.OrderBy) > 0
	for _, g := range config.GroupFields {
		name := g
		if as := config.SelectAlias[g]; as != "" {
			name = as
		}
		config.OrderBy = append(config.OrderBy, types.OrderByField{Expression: name, Direction: types.SortAsc})
		if !chosen {
			columns = append(columns, name)
		}
	}
	return columns
}

// sortRows sorts the rows of one result by columns: NULL first, then booleans,
// numbers, text, and the rest, each ascending.
func sortRows(rows []map[string]any, columns []string) {
	if len(rows) < 2 || len(columns) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		for _, c := range columns {
			if order := compareKeys(value.FromGo(a[c]), value.FromGo(b[c])); order != 0 {
				return order
			}
		}
		return 0
	})
}

// compareKeys is a total order of values.
func compareKeys(a, b value.Value) int {
	a, b = a.Resolve(), b.Resolve()
	if order := cmp.Compare(rank(a), rank(b)); order != 0 {
		return order
	}
	if order, ok := value.Compare(a, b); ok && order != value.Unordered {
		return order
	}
	return strings.Compare(string(value.AppendJSON(nil, a)), string(value.AppendJSON(nil, b)))
}

// rank orders the kinds. Two values of one rank are comparable, or compare by
// their JSON text.
func rank(v value.Value) int {
	switch v.Kind {
	case value.Null:
		return 0
	case value.Bool:
		return 2
	case value.Int, value.Uint, value.Float, value.Number:
		if v.IsNaN() {
			return 1
		}
		return 3
	case value.Text:
		return 4
	case value.JSON, value.Any:
	}
	if _, isTime := v.Ref.(time.Time); isTime {
		return 5
	}
	return 6
}

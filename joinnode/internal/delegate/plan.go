package delegate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rulego/streamsql/rsql"
	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// The sentinels of this package, for errors.Is.
var (
	// ErrUnsupported marks SQL that streamsql accepts and then ignores, computes
	// wrongly or does not know.
	ErrUnsupported = errors.New("unsupported SQL")
	// ErrUnknownFunction marks a call of a function that streamsql does not have.
	ErrUnknownFunction = errors.New("unknown function")
	// ErrOption marks a WITH option that is unknown or has a value it cannot have.
	ErrOption = errors.New("invalid WITH option")
)

// Kind is the way on which streamsql runs a query.
type Kind uint8

// The kinds.
const (
	Direct      Kind = iota // row by row: filter, table join, projection
	Aggregation             // windows
	CEP                     // MATCH_RECOGNIZE
)

// String returns the kind as the node writes it into metadata queryType.
func (k Kind) String() string { return [...]string{"direct", "aggregation", "cep"}[k] }

// Plan is a checked query: the text for streamsql and what the engine does in
// streamsql's place. It is immutable and starts nothing.
type Plan struct {
	// SQL is the statement in the part of the dialect that streamsql runs as
	// written. WHERE and WITH are missing when the engine takes them over.
	SQL    string
	Kind   Kind
	Stream string   // the name behind FROM
	Tables []string // the joined tables in query order, each once
	// Warnings are sentences for the log: accepted, but perhaps not what was meant.
	// Those about Tables are given by TableWarning.
	Warnings []string

	where    string     // condition in the language of streamsql's filter, "" for none
	options  options    // WITH
	window   windowSpec // of Aggregation
	columns  columns    // what result rows need on their way out
	joins    []tableJoin
	computed []computed
	unnest   bool
}

// TimestampField returns the path of WITH (TIMESTAMP=…) as written, "" when the
// query runs in processing time.
func (p *Plan) TimestampField() string { return p.options.timestamp }

// TimeUnit returns TIMEUNIT as the length of one unit, 0 when the unit is read
// off each value's size.
func (p *Plan) TimeUnit() time.Duration { return p.options.unit }

// TableWarning says what the user may have missed who joins name, one of Tables,
// and has not registered it: that it is one.
func (p *Plan) TableWarning(name string) string {
	i := slices.IndexFunc(p.joins, func(j tableJoin) bool { return j.table == name })
	j := &p.joins[i]
	kind, as := "JOIN ", ""
	if j.left {
		kind = "LEFT JOIN "
	}
	if j.alias != name {
		as = " AS " + j.alias
	}
	return fmt.Sprintf("%s%s has no WITHIN, so %s is a table and must be registered; to join a stream write %s%s%s WITHIN 10 SECONDS ON …", kind, name, name, kind, name, as)
}

// Around lists what the engine does around SQL, which lacks it.
func (p *Plan) Around() []string {
	var list []string
	for _, t := range p.Tables {
		list = append(list, "the join with "+t)
	}
	if p.where != "" {
		list = append(list, "WHERE")
	}
	if p.Kind == Aggregation {
		list = append(list, "windows and event time")
	}
	return list
}

// windowSpec is the window of an aggregation.
type windowSpec struct {
	kind  string // a window.Type… constant
	size  time.Duration
	slide time.Duration
	count int
	keys  []string // GROUP BY, as paths that streamsql resolves
}

// Compile judges stmt, the parsed form of sql, and translates it for streamsql.
// Errors are *syntax.Error. Nothing is started: everything that Open could
// refuse about the SQL is tried here without a stream.
func Compile(stmt *syntax.Select, sql string) (*Plan, error) {
	c := &compiler{stmt: askForNull(stmt), sql: sql, plan: &Plan{Stream: stmt.From.Name}}
	if err := c.run(); err != nil {
		return nil, err
	}
	return c.plan, nil
}

// parse lets streamsql read the rewritten SQL afresh, since its streams write to
// parts of their configuration, and returns the WHERE that is left in it.
func (p *Plan) parse() (*types.Config, string, error) {
	cfg, where, err := rsql.Parse(p.SQL)
	if err != nil {
		return nil, "", fmt.Errorf("streamsql: %w", err)
	}
	return cfg, where, nil
}

// filter returns the condition that streamsql's filter gets: WHERE, closed for
// barrier rows where the engine sends such rows.
func (p *Plan) filter(rewritten string) string {
	where := p.where
	if where == "" {
		where = rewritten
	}
	if p.Kind == Direct {
		return where
	}
	open := barrierField + " == nil"
	switch {
	case where != "":
		return "(" + where + ") && " + open
	case p.Kind == CEP:
		return open
	}
	return "" // the window knows barriers itself
}

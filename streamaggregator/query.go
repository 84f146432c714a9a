package streamaggregator

import (
	"context"

	"github.com/rulego/streamsql/stream"
	"github.com/streamjoin/streamjoin/joinnode"
)

// query is what the node uses of *joinnode.Streamsql. An executed query has no
// goroutine until its first row.
type query interface {
	IsStreamJoinQuery() bool
	IsTableScript() bool
	IsAggregationQuery() bool
	IsCEPQuery() bool
	EmitJSON(stream string, data []byte) error
	EmitRows(rows []joinnode.JSONRow) error
	Streams() []string
	AddResultSink(func(joinnode.Result))
	AddLateSink(func(joinnode.LateRow))
	Tables() []string
	RegisterTable(name string, rows []map[string]any, keyFields ...string) (*stream.MemoryTableSource, error)
	ScriptTables() []joinnode.TableInfo
	TableJSON(dst []byte, name string, choice joinnode.TableQuery) ([]byte, error)
	GetStats() map[string]int64
	Explain() string
	Drain(ctx context.Context) error
	Stop()
	Done() <-chan struct{}
}

// engineMaker makes queries; tests put a fake in its place.
type engineMaker interface {
	compile(s settings, log logger) (query, error)
	// adopt hands the state of old to next, as joinnode's Adopt.
	adopt(next, old query) (joinnode.Adoption, error)
}

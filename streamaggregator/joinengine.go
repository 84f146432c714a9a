package streamaggregator

import (
	"fmt"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode"
)

// joinEngine makes queries of package joinnode.
type joinEngine struct {
	more []joinnode.Option
}

var _ query = (*joinnode.Streamsql)(nil)

func (e joinEngine) compile(s settings, log logger) (query, error) {
	q := joinnode.New(slices.Concat(e.more, s.options(), []joinnode.Option{joinnode.WithLogger(log)})...)
	if err := q.Execute(s.SQL); err != nil {
		return nil, &FieldError{Field: "sql", Value: s.SQL, Err: err}
	}
	return q, nil
}

// options are the engine's options for a configuration.
func (s *settings) options() []joinnode.Option {
	return []joinnode.Option{
		joinnode.WithBufferSizes(s.BufferSize, s.BufferSize, s.BufferSize),
		joinnode.WithOverflowStrategy(s.Overflow, s.blockTimeout),
		joinnode.WithJoinMaxKeys(s.JoinMaxKeys),
		joinnode.WithJoinMaxRows(s.JoinMaxRows),
		joinnode.WithJoinMaxBytes(s.JoinMaxBytes),
	}
}

func (joinEngine) adopt(next, old query) (joinnode.Adoption, error) {
	n, ok := next.(*joinnode.Streamsql)
	o, okOld := old.(*joinnode.Streamsql)
	if !ok || !okOld {
		return joinnode.Adoption{}, fmt.Errorf("a %T cannot take over from a %T", next, old)
	}
	return n.Adopt(o)
}

package delegate

import (
	"fmt"

	"github.com/rulego/streamsql/cep"
	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/stream"
	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// dryRun tries everything that streamsql checks before the first row: it parses
// and compiles, and at last builds the stream and stops it unused. What could fail
// behind the start of its goroutines, which streamsql then forgets, is tried
// before. The error comes with the place of its clause.
func (c *compiler) dryRun() (at syntax.Pos, err error) {
	p, s := c.plan, c.stmt
	clause := c.mainClause()
	cfg, rewritten, err := p.parse()
	if err != nil {
		return clause, err
	}
	if err := new(stream.Stream).RegisterFilter(p.filter(rewritten)); err != nil {
		return s.WherePos, fmt.Errorf("WHERE: %w", err)
	}
	// A HAVING that does not compile is logged and then lets every row pass.
	if cfg.Having != "" {
		if err := new(stream.Stream).RegisterFilter(cfg.Having); err != nil {
			return s.HavePos, fmt.Errorf("HAVING: %w", err)
		}
	}
	want := map[Kind]types.ExecMode{Direct: types.ExecDirect, Aggregation: types.ExecWindow, CEP: types.ExecCEP}
	if cfg.Mode != want[p.Kind] {
		return clause, fmt.Errorf("it would run as another kind of query than %s", p.Kind)
	}
	switch p.Kind {
	case Aggregation:
		if err := p.readWindow(cfg); err != nil {
			return clause, err
		}
	case CEP:
		if err := cep.Validate(cfg.MatchRecognize); err != nil {
			return clause, err
		}
	}
	cfg.Logger = logger.NewDiscardLogger()
	st, err := stream.NewStreamWithCustomPerformance(*cfg, performance())
	if err != nil {
		return clause, err
	}
	st.Stop()
	return clause, nil
}

// mainClause is the place of what makes the query one of its kind.
func (c *compiler) mainClause() syntax.Pos {
	if c.stmt.Match != nil {
		return c.stmt.Match.Span.Start
	}
	if w := c.window(); w != nil {
		return w.Pos
	}
	if w := c.global(); w != nil {
		return w.Pos
	}
	return c.stmt.Pos
}

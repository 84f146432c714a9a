package pipeline

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// stageCounts is what is counted for one stage of a join, beside what its
// operators count.
type stageCounts struct {
	place   string // as the log calls it
	door    *door
	metrics *stageMetrics
	within  int64

	drops     [operator.NumReasons]int64
	pending   int64 // LEFT rows evicted while they waited
	rejected  int64 // composite rows that WHERE refused before a reload
	failed    int64 // function errors that the warnings know of
	unlike    int64 // type mismatches that they know of
	skewSince int64 // clock since |skew| is above W/4; 0 = it is not
}

func newStageCounts(c *counters, stage int, within int64) stageCounts {
	place := fmt.Sprintf("join stage %d", stage+1)
	return stageCounts{place: place, within: within, door: c.addDoor(place, inputDropped.of(stage)),
		metrics: newStageMetrics(c.registry, stage)}
}

// count counts one row that was accepted and then dropped; describe, which may be
// nil, says for the log what is special about it.
func (g *joinGraph) count(stage int, why operator.Reason, pending bool, describe func() string) {
	s := &g.stages[stage]
	s.drops[why]++
	if pending {
		s.pending++
	}
	if why != operator.Filtered {
		g.p.counters.warnings.loss(s.place, &losses[why], 1, describe)
	}
}

// publish implements graph.
func (g *joinGraph) publish() (dropped int64) {
	for i := range g.stages {
		dropped += g.publishStage(i)
	}
	return dropped
}

// publishStage does so for one stage.
func (g *joinGraph) publishStage(i int) (dropped int64) {
	s := &g.stages[i]
	m, d, stats, warnings := s.metrics, &s.drops, s.join.Stats(), g.p.counters.warnings
	late := d[operator.Late] + d[operator.BadTimestamp] + d[operator.FutureTimestamp]
	m[matchesEmitted].set(stats.Matches)
	m[leftTimeoutEmitted].set(stats.LeftTimeouts)
	m[lateDropped].set(late)
	m[inputDropped].set(s.door.lost.Load())
	m[rowsDropped].set(d[operator.RowsGate])
	m[keysEvicted].set(stats.KeysEvicted)
	m[badTimestamp].set(d[operator.BadTimestamp])
	m[futureTimestamp].set(d[operator.FutureTimestamp])
	m[filtered].set(d[operator.Filtered])
	m[leftPendingEvicted].set(s.pending)
	m[typeMismatch].set(s.context.TypeMismatch)
	m[functionErrors].set(s.context.FunctionErrors)
	m[compositeFiltered].set(s.refused())
	m[expired].set(stats.Expired)
	m[rowsEvicted].set(d[operator.KeyEvicted])
	m[memoryDropped].set(d[operator.BytesGate])
	m[bufferedRows].set(stats.Rows)
	m[bufferedKeys].set(stats.Keys)
	m[stateBytes].set(stats.Bytes)
	left, right := g.watermark(i, 0), g.watermark(i, 1)
	m[leftWatermark].set(seenOrZero(left))
	m[rightWatermark].set(seenOrZero(right))
	g.skew(s, left, right)
	if failed := s.context.FunctionErrors; failed > s.failed {
		warnings.functionErrors(s.place, failed-s.failed, s.context.LastFunctionError)
		s.failed = failed
	}
	if unlike := s.context.TypeMismatch; unlike > s.unlike {
		if warnings.mismatches(s.place, unlike-s.unlike, s.context.Example) {
			s.context.Example = nil
		}
		s.unlike = unlike
	}
	return late + d[operator.RowsGate] + d[operator.BytesGate] + d[operator.KeyEvicted]
}

// refused counts the composite rows that WHERE refused behind the stage.
func (s *stage) refused() int64 {
	if s.filter == nil {
		return s.rejected
	}
	return s.rejected + s.filter.Stats().Rejected
}

func seenOrZero(wm int64) int64 {
	if wm == minTime {
		return 0
	}
	return wm
}

// skewPatience is how long streams may drift apart before a warning, in ns.
const skewPatience = int64(10e9)

// skew shows how far the two sides are apart and warns once it costs matches:
// each side's own watermark ends its rows' lives (semantics.md §4).
func (g *joinGraph) skew(s *stage, left, right int64) {
	if left == minTime || right == minTime {
		return
	}
	apart := subTime(left, right)
	s.metrics[skew].set(apart)
	if !g.event || max(apart, -apart) <= s.within/4 {
		s.skewSince = 0
		return
	}
	if s.skewSince == 0 {
		s.skewSince = g.p.now
	}
	if g.p.now-s.skewSince >= skewPatience {
		g.p.counters.warnings.skew(s.place, apart, s.within)
	}
}

// inherit goes on with the counts of the stage in the old query, except for those
// that the operators keep: they bring theirs.
func (s *stage) inherit(old *stage) {
	s.drops, s.pending = old.drops, old.pending
	s.failed, s.unlike, s.skewSince = old.failed, old.unlike, old.skewSince
	s.rejected = old.refused()
	s.context.TypeMismatch, s.context.FunctionErrors = old.context.TypeMismatch, old.context.FunctionErrors
}

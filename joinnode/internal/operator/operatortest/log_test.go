package operatortest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

func TestLogNotesWhatBreaksTheContract(t *testing.T) {
	rec := operator.Record{TS: 9, Diff: 1}
	for name, breaks := range map[string]func(*Log){
		"a record below Low": func(l *Log) { l.Advance(operator.Progress{Seen: 10, Low: 10}); l.Emit(rec) },
		"Seen falls":         func(l *Log) { l.Advance(operator.Progress{Seen: 10}); l.Advance(operator.Progress{Seen: 9}) },
		"Low falls": func(l *Log) {
			l.Advance(operator.Progress{Seen: 10, Low: 5})
			l.Advance(operator.Progress{Seen: 11, Low: 4})
		},
		"Low beyond Seen": func(l *Log) { l.Advance(operator.Progress{Seen: 10, Low: 11}) },
		"no Diff":         func(l *Log) { l.Emit(operator.Record{TS: 9}) },
	} {
		t.Run(name, func(t *testing.T) {
			log := NewLog()
			breaks(log)
			require.Len(t, log.Broken, 1)
		})
	}
	log := NewLog()
	log.Emit(rec)
	log.Advance(operator.Progress{Seen: 9, Low: 9})
	log.Emit(rec)
	require.Empty(t, log.Broken)
}

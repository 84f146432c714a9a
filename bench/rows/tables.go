package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/reference"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// The scripts. All columns of a row are in the table of the first, as it is written
// most often.
const (
	distinctSQL = `IMPORT temperatures TIMESTAMP ts TIMEUNIT 'us';
		Latest := DISTINCT temperatures ON deviceId ORDER BY ts DESC;`
	sumSQL = `IMPORT temperatures TIMESTAMP ts TIMEUNIT 'us';
		Totals := SELECT deviceId, sum(temperature) AS total, count(*) AS n FROM temperatures GROUP BY deviceId;`
	temporalSQL = `IMPORT temperatures TIMESTAMP ts TIMEUNIT 'us';
		IMPORT vibrations TIMESTAMP ts TIMEUNIT 'us';
		Shaking := DISTINCT vibrations ON deviceId ORDER BY ts DESC;
		Readings := SELECT t.deviceId, t.temperature, s.vibration FROM temperatures t TEMPORAL JOIN Shaking s ON t.deviceId = s.deviceId;
		EXPORT Readings TO stream_event;`
)

// tableCase is a script, what is fed to it, and the Go maps that do the same.
type tableCase struct {
	sql     string
	table   string // whose rows are compared with the map's
	updates workload.UpdatesConfig
	full    int // keys
	quick   int
	maps    func(*vertices) tableMaps
}

// tableMaps is the reference: maps that are updated by prepared rows, or by
// messages that are unmarshalled first.
type tableMaps interface {
	// take updates by the rows that the operators get, of which it reads what it needs.
	take(rows []preparedRow)
	// takeDecoded does the same by what was read of them before.
	takeDecoded(rows []preparedRow)
	// message updates by a message that lies in memory that stays.
	message(port uint8, fields map[string]any, msg []byte)
	// results is how many results there must have been, and for prepared rows the sum
	// of their digests, where it is known.
	results() (n int64, sum uint64, summed bool)
	// has compares a row of the table as it is read.
	has(r *tableRow) error
	size() int
	// columns returns what a result or the table has of a row's columns.
	columns(port uint8, r row.Row) []byte
}

// preparedRow is a row as the reference takes it. It lies outside the heap, as
// all that it points to.
type preparedRow struct {
	ts   int64 // µs
	row  row.Row
	name string // the key in memory that stays
	port uint8

	// Read before.
	key     string // in the row's bytes
	value   float64
	columns []byte // of the row that the table, or the result, has
}

// keyOf is a row's key in the row's bytes.
func keyOf(r row.Row) string {
	text, _, _ := row.FirstText(r.Enc)
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// tableRow is a row of a table as JSON.
type tableRow struct {
	DeviceID string  `json:"deviceId"`
	TS       int64   `json:"ts"`
	Total    float64 `json:"total"`
	N        int64   `json:"n"`
}

var (
	// Some rows come too late to be their key's newest.
	distinctCase = tableCase{sql: distinctSQL, table: "Latest", full: 1_000_000, quick: 20_000,
		updates: workload.UpdatesConfig{Late: 100, Lag: 1_000_000}, maps: newLatestMaps}
	sumCase = tableCase{sql: sumSQL, table: "Totals", full: 100_000, quick: 5000, maps: newTotalMaps}
	// One row in 16 is a version. Each chunk ends with one, so that no row waits.
	temporalCase = tableCase{sql: temporalSQL, table: "Shaking", full: 100_000, quick: 4800,
		updates: workload.UpdatesConfig{First: 1, Every: 16}, maps: newVersionMaps}
)

// tables measures a script: its operators on prepared rows against Go maps, which
// is judged, and beside it the way from a message to the sink.
func tables(t tableCase) func(*harness.Run) error {
	return func(r *harness.Run) error {
		if t.updates.Keys = r.Scaled(t.full, t.quick); r.Quick {
			t.updates.Lag = min(t.updates.Lag, t.updates.Keys)
		}
		keys, err := workload.NewKeys(t.updates.Keys)
		if err != nil {
			return err
		}
		rows := r.Scaled(240_000, 24_000)
		if err := t.operators(r, keys, rows); err != nil {
			return err
		}
		return t.fromMessages(r, keys, rows)
	}
}

// operators is the judged part.
func (t *tableCase) operators(r *harness.Run, keys *workload.Keys, rows int) error {
	own, err := newVertices(t.sql)
	if err != nil {
		return err
	}
	c, err := workload.NewExtracted(rows, keys, own.extractors())
	if err != nil {
		return err
	}
	prepared, err := workload.OffHeap[preparedRow](rows)
	if err != nil {
		return err
	}
	u, err := workload.NewUpdates(t.updates)
	if err != nil {
		return err
	}
	maps, decoded := t.maps(own), t.maps(own)
	prepare := func() (int, error) {
		if err := c.FillUpdates(u); err != nil {
			return 0, err
		}
		for i := range c.Rows {
			x, r := &c.Rows[i], c.Encoded(i)
			prepared[i] = preparedRow{ts: x.TS, row: r, name: c.Key(i), port: x.Port,
				key: keyOf(r), value: x.Value(), columns: maps.columns(x.Port, r)}
		}
		return rows, nil
	}
	for fed := 0; fed < t.updates.Keys+t.updates.Keys/2; fed += rows {
		if _, err := prepare(); err != nil {
			return err
		}
		own.feed(c)
		maps.take(prepared)
		decoded.takeDecoded(prepared)
	}
	if err := t.compare(own, maps); err != nil {
		return err
	}
	var alone time.Duration
	err = r.Contest(harness.Contest{
		Per:     "row",
		Prepare: prepare,
		Own:     func() (time.Duration, error) { return harness.CPU("engine", func() error { own.feed(c); return nil }) },
		Other: func() (time.Duration, error) {
			spent, err := harness.CPU("reference", func() error { maps.take(prepared); return nil })
			if err != nil {
				return 0, err
			}
			alone, err = harness.CPU("decoded", func() error { decoded.takeDecoded(prepared); return nil })
			return spent, err
		},
		Judge: func(own, other time.Duration, units int) float64 {
			r.Figure("The map when all is decoded before", "ns/row", float64(alone)/float64(units))
			r.Figure("The operators over that", string(harness.Times), float64(own)/float64(alone))
			return float64(own) / float64(other)
		},
	})
	if err != nil {
		return err
	}
	n, _, _ := maps.results()
	r.Note("%d keys, rows of %.0f encoded bytes, %d vertices; every key's row is that of the map, and so is the number of results (%d)", maps.size(), c.MessageSize(), len(own.ops), n)
	return errors.Join(t.compare(own, maps), t.compare(own, decoded))
}

// compare compares results and the whole table with the maps.
func (t *tableCase) compare(v *vertices, m tableMaps) error {
	n, sum, summed := m.results()
	if err := harness.Equal("number of results", v.out.results, n); err != nil {
		return err
	}
	if summed {
		if err := harness.Equal("digest of all results", v.out.sum, sum); err != nil {
			return err
		}
	}
	if err := harness.Equal("rows dropped", v.out.dropped, 0); err != nil {
		return err
	}
	held := 0
	err := v.rows(t.table, func(text []byte) error {
		held++
		var r tableRow
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		return m.has(&r)
	})
	if err != nil {
		return err
	}
	return harness.Equal("rows of "+t.table, held, m.size())
}

// fromMessages is the whole way: EmitJSON → result sink against json.Unmarshal
// and the same map update.
func (t *tableCase) fromMessages(r *harness.Run, keys *workload.Keys, rows int) error {
	c, err := workload.NewMessages(rows, keys)
	if err != nil {
		return err
	}
	u, err := workload.NewUpdates(t.updates)
	if err != nil {
		return err
	}
	own, err := newVertices(t.sql)
	if err != nil {
		return err
	}
	maps := t.maps(own)
	q, err := start(t.sql)
	if err != nil {
		return err
	}
	defer q.Stop()
	q.AddResultSink(func(res joinnode.Result) {
		q.results++
		q.bytes += int64(len(res.JSON) + len(res.Key))
	})
	unmarshal := func() error {
		for i := range c.Rows {
			var fields map[string]any
			if err := json.Unmarshal(c.Message(i), &fields); err != nil {
				return err
			}
			maps.message(c.Rows[i].Port, fields, c.Message(i))
		}
		return nil
	}
	check := func() error {
		n, _, _ := maps.results()
		return harness.Equal("number of results", q.results, n)
	}
	for fed := 0; fed < t.updates.Keys+t.updates.Keys/2; fed += rows {
		if err := c.FillUpdates(u); err != nil {
			return err
		}
		if err := q.emit(c); err != nil {
			return err
		}
		if err := unmarshal(); err != nil {
			return err
		}
	}
	if err := check(); err != nil {
		return err
	}
	err = r.Beside("EmitJSON → result sink", "json.Unmarshal and the map update", harness.Contest{
		Per:     "row",
		Prepare: func() (int, error) { return rows, c.FillUpdates(u) },
		Own:     func() (time.Duration, error) { return q.timedEmit(c) },
		Other:   func() (time.Duration, error) { return harness.CPU("reference", unmarshal) },
	})
	if err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	return compareJSON(q, t.table, maps)
}

// compareJSON compares a table as it is read with the maps.
func compareJSON(q *query, table string, m tableMaps) error {
	text, err := q.TableJSON(nil, table, joinnode.TableQuery{})
	if err != nil {
		return err
	}
	var held []tableRow
	if err := json.Unmarshal(text, &held); err != nil {
		return err
	}
	for i := range held {
		if err := m.has(&held[i]); err != nil {
			return err
		}
	}
	return harness.Equal("rows of "+table, len(held), m.size())
}

// latestMaps is DISTINCT ON.
type latestMaps struct {
	latest reference.Latest
	n      int64
}

func newLatestMaps(*vertices) tableMaps { return &latestMaps{latest: reference.Latest{}} }

func (m *latestMaps) take(rows []preparedRow) {
	for i := range rows {
		r := &rows[i]
		if m.latest.Update(keyOf(r.row), r.name, r.ts, r.row.Enc) {
			m.n++
		}
	}
}

func (m *latestMaps) takeDecoded(rows []preparedRow) {
	for i := range rows {
		if m.latest.Update(rows[i].key, rows[i].name, rows[i].ts, rows[i].columns) {
			m.n++
		}
	}
}

func (m *latestMaps) columns(_ uint8, r row.Row) []byte { return r.Enc }

func (m *latestMaps) message(_ uint8, fields map[string]any, msg []byte) {
	key := fields["deviceId"].(string)
	if m.latest.Update(key, key, int64(fields["ts"].(float64)), msg) {
		m.n++
	}
}

func (m *latestMaps) results() (int64, uint64, bool) { return m.n, 0, false }
func (m *latestMaps) size() int                      { return len(m.latest) }

func (m *latestMaps) has(r *tableRow) error {
	return hasTime(m.latest, r)
}

// hasTime compares the time of a row, of which a key has only one.
func hasTime(l reference.Latest, r *tableRow) error {
	return harness.Equal("time of "+r.DeviceID, r.TS, l[r.DeviceID].TS)
}

// totalMaps is the grouped sum.
type totalMaps struct {
	totals reference.Totals
	n      int64
}

func newTotalMaps(*vertices) tableMaps { return &totalMaps{totals: reference.Totals{}} }

func (m *totalMaps) take(rows []preparedRow) {
	for i := range rows {
		r := &rows[i]
		x, _ := r.row.Float(1)
		m.totals.Add(keyOf(r.row), r.name, x)
	}
	m.n += int64(len(rows))
}

func (m *totalMaps) takeDecoded(rows []preparedRow) {
	for i := range rows {
		m.totals.Add(rows[i].key, rows[i].name, rows[i].value)
	}
	m.n += int64(len(rows))
}

func (m *totalMaps) columns(uint8, row.Row) []byte { return nil }

func (m *totalMaps) message(_ uint8, fields map[string]any, _ []byte) {
	key := fields["deviceId"].(string)
	m.totals.Add(key, key, fields["temperature"].(float64))
	m.n++
}

func (m *totalMaps) results() (int64, uint64, bool) { return m.n, 0, false }
func (m *totalMaps) size() int                      { return len(m.totals) }

func (m *totalMaps) has(r *tableRow) error {
	g := m.totals[r.DeviceID]
	if g == nil {
		return fmt.Errorf("%w: there is no group %s", harness.ErrCheck, r.DeviceID)
	}
	// The map's sum has the rounding errors of its additions, up to one in 2⁵³ each.
	if g.N != r.N || math.Abs(g.Sum-r.Total) > g.Sum*float64(g.N)/(1<<53) {
		return fmt.Errorf("%w: group %s has %d rows, sum %v, want %d, %v", harness.ErrCheck, r.DeviceID, r.N, r.Total, g.N, g.Sum)
	}
	return nil
}

// versionMaps is the temporal join. It gets rows in order of time, so the newest
// version of a key is the one as of the time.
type versionMaps struct {
	latest    reference.Latest
	vibration int // column of it in a row of vibrations
	buf       []byte
	n         int64
	sum       uint64
}

func newVersionMaps(v *vertices) tableMaps {
	m := &versionMaps{latest: reference.Latest{}}
	for i := range v.program.Inputs {
		if in := &v.program.Inputs[i]; in.Stream == workload.Right {
			m.vibration = slices.IndexFunc(in.Paths, func(p row.Path) bool { return len(p) == 1 && p[0].Name == "vibration" })
		}
	}
	return m
}

func (m *versionMaps) take(rows []preparedRow) {
	for i := range rows {
		r := &rows[i]
		m.row(r.port, keyOf(r.row), r.name, r.ts, m.columns(r.port, r.row))
	}
}

func (m *versionMaps) takeDecoded(rows []preparedRow) {
	for i := range rows {
		m.row(rows[i].port, rows[i].key, rows[i].name, rows[i].ts, rows[i].columns)
	}
}

// columns are key and temperature, or the vibration.
func (m *versionMaps) columns(port uint8, r row.Row) []byte {
	if port == 0 {
		return r.Enc[:r.Offset(2)]
	}
	return r.Slice(m.vibration, m.vibration+1).Enc
}

func (m *versionMaps) row(port uint8, key, name string, ts int64, columns []byte) {
	if port == 1 {
		m.latest.Update(key, name, ts, columns)
		return
	}
	var found bool
	if m.buf, found = m.latest.AppendVersion(m.buf[:0], key, columns); found {
		m.n++
		m.sum += digest(m.buf)
	}
}

func (m *versionMaps) message(port uint8, fields map[string]any, msg []byte) {
	key := fields["deviceId"].(string)
	m.row(port, key, key, int64(fields["ts"].(float64)), msg)
}

func (m *versionMaps) results() (int64, uint64, bool) { return m.n, m.sum, true }
func (m *versionMaps) size() int                      { return len(m.latest) }

func (m *versionMaps) has(r *tableRow) error {
	return hasTime(m.latest, r)
}

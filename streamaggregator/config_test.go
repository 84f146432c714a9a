package streamaggregator

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

func parseJSON(t *testing.T, text string) (settings, error) {
	t.Helper()
	var c types.Configuration
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return parseConfiguration(c)
}

func TestConfigurationDefaults(t *testing.T) {
	s, err := parseJSON(t, `{"sql":"SELECT 1"}`)
	require.NoError(t, err)
	require.Equal(t, FormatAuto, s.InputFormat)
	require.Equal(t, 10000, s.JoinMaxKeys)
	require.Equal(t, 0, s.JoinMaxRows)
	require.Zero(t, s.JoinMaxBytes)
	require.Equal(t, OverflowBlock, s.Overflow)
	require.Equal(t, 10*time.Second, s.blockTimeout)
	require.False(t, s.LateEvents)
	require.Equal(t, keyNone, s.streamKey.kind)
}

func TestConfigurationTakesEveryField(t *testing.T) {
	s, err := parseJSON(t, `{"sql":"SELECT 1","streamKey":"streamName","inputFormat":"columns","joinMaxKeys":20000,
		"joinMaxRows":500000,"joinMaxBytes":8589934592,"bufferSize":64,"overflow":"drop","blockTimeout":"250ms","lateEvents":true,
		"tables":[{"name":"meta","source":"inline","rows":[{"id":1}]},
		          {"name":"site","source":"http","path":"http://localhost/x","format":"csv","refresh":"5m","timeout":"2s","headers":{"A":"b"}}],
		"$chainCtx":null,"vars":{},"secrets":{}}`)
	require.NoError(t, err)
	require.Equal(t, 20000, s.JoinMaxKeys)
	require.Equal(t, 500000, s.JoinMaxRows)
	require.Equal(t, int64(8<<30), s.JoinMaxBytes)
	require.Equal(t, 64, s.BufferSize)
	require.Equal(t, 250*time.Millisecond, s.blockTimeout)
	require.True(t, s.LateEvents)
	require.Len(t, s.Tables, 2)
	require.Equal(t, []map[string]any{{"id": 1.0}}, s.Tables[0].Rows)
	require.Equal(t, 5*time.Minute, s.Tables[1].refresh)
	require.Equal(t, 2*time.Second, s.Tables[1].timeout)
	require.Equal(t, map[string]string{"A": "b"}, s.Tables[1].Headers)
}

func TestConfigurationFaultsNameFieldAndValue(t *testing.T) {
	for _, c := range []struct{ config, field, says string }{
		{`{}`, "sql", `field "sql" = "": is required`},
		{`{"sql":"  "}`, "sql", "is required"},
		{`{"sql":5}`, "sql", `field "sql" = 5: is a number, want text`},
		{`{"sql":"x","streamKey":5}`, "streamKey", `field "streamKey" = 5: is a number, want text`},
		{`{"sql":"x","streamKey":"${msg."}`, "streamKey", `field "streamKey" = "${msg."`},
		{`{"sql":"x","streamKey":"${1 +}"}`, "streamKey", "is not an expression"},
		{`{"sql":"x","streamKey":"${meta.streamName}"}`, "streamKey", `field "streamKey" = "${meta.streamName}": has the unknown name "meta": did you mean ${metadata.streamName}?`},
		{`{"sql":"x","streamKey":"s-${metdata.s}"}`, "streamKey", `did you mean ${metadata.s}?`},
		{`{"sql":"x","streamKey":"${mgs['s'] + 'x'}"}`, "streamKey", `did you mean ${msg.s}?`},
		{`{"sql":"x","streamKey":"${header.s}"}`, "streamKey", `a field of the row is ${msg.s}, a metadata key ${metadata.s} (known: metadata, msg,`},
		{`{"sql":"x","streamKey":"${data.s}"}`, "streamKey", `takes "s" out of data, which has no fields`},
		{`{"sql":"x","streamKey":"${splt(metadata.topic, '/')[1]}"}`, "streamKey", `calls the unknown function "splt"`},
		{`{"sql":"x","inputFormat":"rows"}`, "inputFormat", `field "inputFormat" = "rows": is none of auto, columns`},
		{`{"sql":"x","joinMaxKeys":"10"}`, "joinMaxKeys", `field "joinMaxKeys" = "10": is a text, want a whole number`},
		{`{"sql":"x","joinMaxKeys":1.5}`, "joinMaxKeys", `field "joinMaxKeys" = 1.5`},
		{`{"sql":"x","joinMaxKeys":0}`, "joinMaxKeys", "out of range"},
		{`{"sql":"x","joinMaxRows":-1}`, "joinMaxRows", `field "joinMaxRows" = -1: is out of range`},
		{`{"sql":"x","joinMaxRows":1e300}`, "joinMaxRows", `field "joinMaxRows" = 1e+300`},
		{`{"sql":"x","joinMaxBytes":512}`, "joinMaxBytes", `field "joinMaxBytes" = 512: is out of range: 0 (no limit), or at least 1048576 bytes`},
		{`{"sql":"x","joinMaxBytes":-1}`, "joinMaxBytes", "out of range"},
		{`{"sql":"x","joinMaxBytes":"64MB"}`, "joinMaxBytes", "is a text, want a whole number of bytes"},
		{`{"sql":"x","bufferSize":true}`, "bufferSize", "is a boolean, want a whole number"},
		{`{"sql":"x","overflow":"expand"}`, "overflow", "is none of block, drop"},
		{`{"sql":"x","blockTimeout":5}`, "blockTimeout", `field "blockTimeout" = 5: is a number, want a text with a unit`},
		{`{"sql":"x","blockTimeout":"5"}`, "blockTimeout", `field "blockTimeout" = "5": is not a duration`},
		{`{"sql":"x","blockTimeout":"-5s"}`, "blockTimeout", "above zero"},
		{`{"sql":"x","lateEvents":"true"}`, "lateEvents", "is a text, want true or false"},
		{`{"sql":"x","streamkey":"s"}`, "streamkey", `is not a field of this node`},
		{`{"sql":"x","streamkey":"s"}`, "streamkey", `did you mean "streamKey"?`},
		{`{"sql":"x","streamKy":"s"}`, "streamKy", `did you mean "streamKey"?`},
		{`{"sql":"x","joinMaxKey":5}`, "joinMaxKey", `did you mean "joinMaxKeys"?`},
		{`{"sql":"x","overflow":"blok"}`, "overflow", `is none of block, drop: did you mean "block"?`},
		{`{"sql":"x","tables":{}}`, "tables", "is an object, want a list of objects"},
		{`{"sql":"x","tables":[1]}`, "tables", "is a list, want a list of objects"},
		{`{"sql":"x","tables":[{}]}`, "tables[0].name", "is required"},
		{`{"sql":"x","tables":[{"name":"t"}]}`, "tables[0].source", "is required"},
		{`{"sql":"x","tables":[{"name":"t","source":"ftp"}]}`, "tables[0].source", "is none of"},
		{`{"sql":"x","tables":[{"name":"t","source":"inline"}]}`, "tables[0].rows", "is required"},
		{`{"sql":"x","tables":[{"name":"t","source":"inline","rows":[1]}]}`, "tables[0].rows", "want a list of objects"},
		{`{"sql":"x","tables":[{"name":"t","source":"inline","rows":[],"refresh":"1s"}]}`, "tables[0].refresh", "no use"},
		{`{"sql":"x","tables":[{"name":"t","source":"file"}]}`, "tables[0].path", "is required"},
		{`{"sql":"x","tables":[{"name":"t","source":"file","path":"p","rows":[]}]}`, "tables[0].rows", "inline tables only"},
		{`{"sql":"x","tables":[{"name":"t","source":"http","path":"ftp://x"}]}`, "tables[0].path", "not an http or https URL"},
		{`{"sql":"x","tables":[{"name":"t","source":"http","path":"http://x","refresh":30}]}`, "tables[0].refresh", "want a text with a unit"},
		{`{"sql":"x","tables":[{"name":"t","source":"http","path":"http://x","headers":{"a":1}}]}`, "tables[0].headers", "object of texts"},
		{`{"sql":"x","tables":[{"name":"t","source":"inline","rows":[]},{"name":"t","source":"inline","rows":[]}]}`, "tables[1].name", "two tables"},
		{`{"sql":"x","tables":[{"name":"t","source":"inline","rows":[],"interval":"1s"}]}`, "tables[0].interval", "is not a field"},
	} {
		t.Run(c.config, func(t *testing.T) {
			_, err := parseJSON(t, c.config)
			require.ErrorIs(t, err, ErrConfiguration)
			var field *FieldError
			require.True(t, errors.As(err, &field))
			require.Equal(t, c.field, field.Field)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// What may have a value is let through: a metadata key by its name alone, the output
// of another node, names of the expression itself.
func TestStreamKeysThatAreFine(t *testing.T) {
	for _, key := range []string{
		"${streamName}", "${metadata.topic}", "${metadata['a b']}", "${split(metadata.topic, '/')[1]}", "${msg.a.b ?? metadata.s}",
		"${parse.msg.stream}", "${parse.metadata.stream}", "${let x = msg.a; x.b}", "${msg.list[0].name}", "${vars.site}-${msg.kind}",
		"${msgType}", "${filter(msg.a, #.b > 1)[0].name}", "${len(data) > 5 ? 'long' : 'short'}", "${include('/etc/stream')}",
	} {
		_, err := parseConfiguration(types.Configuration{"sql": "x", "streamKey": key})
		require.NoError(t, err, key)
	}
}

func TestConfigurationReportsAllFaults(t *testing.T) {
	_, err := parseJSON(t, `{"joinMaxKeys":"a","blockTimeout":1,"sql":3}`)
	for _, field := range []string{"sql", "joinMaxKeys", "blockTimeout"} {
		require.ErrorContains(t, err, `field "`+field+`"`)
	}
}

func TestForm(t *testing.T) {
	form := New().Def()
	require.Equal(t, []string{"Success", "Failure", "stream_event", "stream_late"}, *form.RelationTypes)
	for _, f := range form.Fields {
		require.NotEmpty(t, f.Label, f.Name)
		require.NotEmpty(t, f.Desc, f.Name)
		require.Equal(t, f.Name == "sql", f.Required, f.Name)
	}
	// The form and the strict reader know the same fields.
	_, err := parseConfiguration(types.Configuration{"sql": "x", "nope": 1})
	require.ErrorContains(t, err, "is not a field")
	require.Equal(t, reflect.TypeFor[Configuration]().NumField(), len(form.Fields))
	for _, f := range form.Fields {
		c := types.Configuration{"sql": "x"}
		if f.Name != "sql" {
			c[f.Name] = nil
		}
		_, err := parseConfiguration(c)
		require.NoError(t, err, f.Name)
	}
	sql, _ := form.Fields.GetField("sql")
	require.Equal(t, "codeEditor", sql.Component["type"])
	keys, _ := form.Fields.GetField("joinMaxKeys")
	require.Equal(t, 10000, keys.DefaultValue)
	tables, _ := form.Fields.GetField("tables")
	_, hasRefresh := tables.Fields.GetField("refresh")
	require.True(t, hasRefresh)
}

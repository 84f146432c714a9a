package streamaggregator

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/utils/el"
	"github.com/rulego/rulego/utils/str"
	"github.com/tidwall/gjson"
)

// ErrNoStreamName means that a message or one of its rows does not say which
// stream it belongs to.
var ErrNoStreamName = errors.New("no stream name")

type keyKind uint8

const (
	keyNone     keyKind = iota // every row belongs to the FROM stream
	keyMetadata                // one metadata value names the stream of the whole message
	keyPath                    // a text in the row names it
	keyTemplate                // RuleGo's template engine yields it
)

// streamKey is a parsed Configuration.StreamKey. It is immutable and used by
// many goroutines.
type streamKey struct {
	kind     keyKind
	source   string // as configured, for messages
	metadata string
	path     []string
	template el.Template
	perRow   bool // the name can differ between the rows of one message
}

var (
	metadataExpr = regexp.MustCompile(`^\s*\$\{\s*metadata\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\s*$`)
	// rowVariable finds the variables of RuleGo's templates that hold the row.
	rowVariable = regexp.MustCompile(`\b(msg|data)\b`)
	pathExpr    = regexp.MustCompile(`^\s*\$\{\s*msg((?:\.[A-Za-z_][A-Za-z0-9_]*)+)\s*\}\s*$`)
)

// parseStreamKey compiles a stream key. A metadata value or a path into the row
// is read directly: RuleGo's template costs a hundred times as much per row.
func parseStreamKey(source string) (*streamKey, error) {
	k := &streamKey{source: source}
	switch {
	case source == "":
		return k, nil
	case !strings.Contains(source, "${"):
		k.kind, k.metadata = keyMetadata, source
		return k, nil
	}
	if m := metadataExpr.FindStringSubmatch(source); m != nil {
		k.kind, k.metadata = keyMetadata, m[1]
		return k, nil
	}
	if m := pathExpr.FindStringSubmatch(source); m != nil {
		k.kind, k.path, k.perRow = keyPath, strings.Split(m[1][1:], "."), true
		return k, nil
	}
	return parseTemplate(source)
}

func parseTemplate(source string) (*streamKey, error) {
	t, err := el.NewTemplate(source)
	if err != nil {
		return nil, fmt.Errorf("is not an expression: %w", err)
	}
	if !t.HasVar() {
		return nil, errors.New("is not an expression: write ${…} with a closing brace, or a metadata key without ${")
	}
	if err := checkNames(source); err != nil {
		return nil, err
	}
	// Without a mention of the row one evaluation serves the whole message.
	return &streamKey{kind: keyTemplate, source: source, template: t, perRow: rowVariable.MatchString(source)}, nil
}

// ofMessage returns the stream of all rows of a message; "" is the FROM stream.
// It is for keys that are not perRow.
func (k *streamKey) ofMessage(ctx types.RuleContext, msg types.RuleMsg) (string, error) {
	switch k.kind {
	case keyMetadata:
		if name := msg.Metadata.GetValue(k.metadata); name != "" {
			return name, nil
		}
		return "", fmt.Errorf("%w: metadata %q is missing or empty", ErrNoStreamName, k.metadata)
	case keyTemplate:
		return k.execute(ctx.GetEnv(msg, true))
	}
	return "", nil
}

// ofRow returns the stream of one row, a valid JSON object, of msg.
func (k *streamKey) ofRow(ctx types.RuleContext, msg types.RuleMsg, row []byte) (string, error) {
	switch k.kind {
	case keyPath:
		return k.lookup(row)
	case keyTemplate:
		// The template sees a message of its own that holds just this row, so
		// the parsed map that copies of msg share is not touched.
		one := types.RuleMsg{Ts: msg.Ts, Id: msg.Id, Type: msg.Type, DataType: types.JSON, Metadata: msg.Metadata}
		one.SetBytes(row)
		return k.execute(ctx.GetEnv(one, true))
	}
	return k.ofMessage(ctx, msg)
}

func (k *streamKey) execute(env map[string]any) (string, error) {
	v, err := k.template.Execute(env)
	if err != nil {
		// The rest of the text is a picture of the expression, which names it again.
		why, _, _ := strings.Cut(err.Error(), "\n")
		return "", fmt.Errorf("%w: %s: %s", ErrNoStreamName, k.source, why)
	}
	if v == nil {
		return "", fmt.Errorf("%w: %s has no value", ErrNoStreamName, k.source)
	}
	name := str.ToString(v)
	if name == "" {
		return "", fmt.Errorf("%w: %s is empty", ErrNoStreamName, k.source)
	}
	return name, nil
}

func (k *streamKey) lookup(row []byte) (string, error) {
	v := gjson.ParseBytes(row)
	for _, name := range k.path {
		if !v.IsObject() {
			return "", fmt.Errorf("%w: %s has no value", ErrNoStreamName, k.source)
		}
		// Of duplicate keys the last one counts, as everywhere else.
		var found gjson.Result
		v.ForEach(func(key, value gjson.Result) bool {
			if key.String() == name {
				found = value
			}
			return true
		})
		v = found
	}
	switch v.Type {
	case gjson.String:
		if v.Str != "" {
			return v.Str, nil
		}
		return "", fmt.Errorf("%w: %s is empty", ErrNoStreamName, k.source)
	case gjson.Number, gjson.True, gjson.False:
		return v.Raw, nil
	case gjson.JSON:
		return "", fmt.Errorf("%w: %s is an object or array", ErrNoStreamName, k.source)
	}
	return "", fmt.Errorf("%w: %s has no value", ErrNoStreamName, k.source)
}

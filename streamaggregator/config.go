package streamaggregator

import "time"

// Input formats of Configuration.InputFormat.
const (
	// FormatAuto takes a JSON object as one row and the elements of a JSON array
	// as rows.
	FormatAuto = "auto"
	// FormatColumns takes an array of points [{"name":…,"value":…}, …] as one wide
	// row with a column per point; points with a non-empty "error" are skipped.
	FormatColumns = "columns"
)

// Overflow strategies of Configuration.Overflow.
const (
	// OverflowBlock makes the sender wait while the input queue is full, at most
	// BlockTimeout; then the message goes to Failure. Nothing is lost silently.
	OverflowBlock = "block"
	// OverflowDrop drops rows while the input queue is full, and counts them.
	OverflowDrop = "drop"
)

// Defaults of the optional fields.
const (
	defaultJoinMaxKeys  = 10000
	defaultBufferSize   = 10000
	defaultBlockTimeout = 10 * time.Second
)

// Configuration is the configuration of the node, as it stands in a rule chain.
// The tags describe the form of the visual editor. Durations are strings with a
// unit ("10s"): a bare number has none and is refused.
type Configuration struct {
	SQL          string  `json:"sql" label:"SQL" desc:"The query: a WITHIN JOIN of streams, an aggregation over a window, a pattern (MATCH_RECOGNIZE) or a join with a table. Results leave on stream_event." required:"true" component:"{\"type\":\"codeEditor\",\"language\":\"sql\"}"`
	StreamKey    string  `json:"streamKey" label:"Stream name" desc:"Where a row's stream name comes from. A plain word is a metadata key (streamName); an expression is evaluated for each row (${msg.stream}). Empty: every row goes to the FROM stream."`
	InputFormat  string  `json:"inputFormat" label:"Input format" desc:"auto: an object is a row, an array's elements are rows. columns: an array of {name, value} points is one row." component:"{\"type\":\"select\",\"options\":[{\"label\":\"auto\",\"value\":\"auto\"},{\"label\":\"columns\",\"value\":\"columns\"}]}"`
	Tables       []Table `json:"tables" label:"Tables" desc:"Tables for JOIN without WITHIN: rows written here, or read from a file or over HTTP and refreshed."`
	JoinMaxKeys  int     `json:"joinMaxKeys" label:"Max keys" desc:"Distinct keys a side of a JOIN stage keeps; above it the least recently used key is evicted."`
	JoinMaxRows  int     `json:"joinMaxRows" label:"Max rows" desc:"Rows a side of a JOIN stage keeps; above it new rows are dropped and counted. 0: no limit but WITHIN."`
	JoinMaxBytes int64   `json:"joinMaxBytes" label:"Max bytes" desc:"Bytes of memory a side of a JOIN stage takes; above it new rows are dropped and counted. At least 1048576 (1 MiB); 0: no limit but WITHIN."`
	BufferSize   int     `json:"bufferSize" label:"Queue size" desc:"Rows the input queue holds."`
	Overflow     string  `json:"overflow" label:"When the queue is full" desc:"block: the sender waits and nothing is lost. drop: rows are dropped and counted." component:"{\"type\":\"select\",\"options\":[{\"label\":\"block\",\"value\":\"block\"},{\"label\":\"drop\",\"value\":\"drop\"}]}"`
	BlockTimeout string  `json:"blockTimeout" label:"Longest wait" desc:"How long a sender waits at a full queue before its message goes to Failure, e.g. 10s."`
	LateEvents   bool    `json:"lateEvents" label:"Late rows out" desc:"Send every row that was dropped after it was accepted to the relation stream_late, with the reason."`
}

// Sources of Table.Source.
const (
	SourceInline = "inline"
	SourceFile   = "file"
	SourceHTTP   = "http"
)

// Formats of Table.Format.
const (
	TableJSON = "json"
	TableCSV  = "csv"
)

// Table is one table that the SQL joins without WITHIN.
type Table struct {
	Name    string            `json:"name" label:"Name" desc:"The name after JOIN in the SQL." required:"true"`
	Source  string            `json:"source" label:"Source" desc:"Where the rows come from." required:"true" component:"{\"type\":\"select\",\"options\":[{\"label\":\"inline\",\"value\":\"inline\"},{\"label\":\"file\",\"value\":\"file\"},{\"label\":\"http\",\"value\":\"http\"}]}"`
	Rows    []map[string]any  `json:"rows" label:"Rows" desc:"The rows of an inline table, a list of objects."`
	Path    string            `json:"path" label:"Path" desc:"File path or URL. A relative path is of the folder in which the program was started."`
	Format  string            `json:"format" label:"Format" desc:"json: a list of objects. csv: the first line names the columns." component:"{\"type\":\"select\",\"options\":[{\"label\":\"json\",\"value\":\"json\"},{\"label\":\"csv\",\"value\":\"csv\"}]}"`
	Refresh string            `json:"refresh" label:"Refresh" desc:"How often the rows are read again, e.g. 5m. Empty: once. A failed refresh keeps the rows of the last one."`
	Headers map[string]string `json:"headers" label:"Headers" desc:"HTTP request headers."`
	Timeout string            `json:"timeout" label:"Timeout" desc:"Longest time for one read, default 10s."`

	refresh, timeout time.Duration
}

// settings is a validated Configuration.
type settings struct {
	Configuration
	blockTimeout time.Duration
	streamKey    *streamKey
}

func defaultConfiguration() Configuration {
	return Configuration{
		InputFormat:  FormatAuto,
		JoinMaxKeys:  defaultJoinMaxKeys,
		BufferSize:   defaultBufferSize,
		Overflow:     OverflowBlock,
		BlockTimeout: defaultBlockTimeout.String(),
	}
}

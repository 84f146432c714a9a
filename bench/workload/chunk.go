package workload

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A Chunk is a run of rows in the form that a benchmark feeds, with what they
// must lead to. It is filled again for every round.
type Chunk struct {
	Rows     []Row
	Matches  int64 // pairs of rows of this chunk with those before and each other
	Rejected int64 // rows that WHERE rejects

	keys *Keys
	form form
	text []byte
	at   []uint32

	extractors [2]*row.Extractor // by port, of the form extracted
	scratch    [2]row.Scratch
	message    []byte
}

type form uint8

const (
	plain form = iota
	messages
	encoded
	extracted
)

// Longest spellings of a row: as a message, and as columns with the message
// among them.
const (
	longest          = 192
	longestExtracted = longest + 64
)

// NewChunk returns a chunk of n rows that are only Rows.
func NewChunk(n int, keys *Keys) (*Chunk, error) { return newChunk(n, keys, plain) }

// NewMessages returns a chunk of n rows as JSON messages.
func NewMessages(n int, keys *Keys) (*Chunk, error) { return newChunk(n, keys, messages) }

// NewEncoded returns a chunk of n rows as a join operator takes them: key,
// reading, other value.
func NewEncoded(n int, keys *Keys) (*Chunk, error) { return newChunk(n, keys, encoded) }

// NewExtracted returns a chunk of n rows as an engine has them behind its parser:
// the columns that the extractor of the row's stream takes from its message.
func NewExtracted(n int, keys *Keys, extractors [2]*row.Extractor) (*Chunk, error) {
	c, err := newChunk(n, keys, extracted)
	if err == nil {
		c.extractors = extractors
	}
	return c, err
}

func newChunk(n int, keys *Keys, f form) (*Chunk, error) {
	c := &Chunk{keys: keys, form: f}
	var err error
	if c.Rows, err = OffHeap[Row](n); err != nil {
		return nil, err
	}
	if f == plain {
		return c, nil
	}
	most := longest
	if f == extracted {
		most = longestExtracted
	}
	if c.text, err = OffHeap[byte](n * most); err != nil {
		return nil, err
	}
	c.at, err = OffHeap[uint32](n + 1)
	return c, err
}

// Fill takes the next rows of s.
func (c *Chunk) Fill(s *Stream) error {
	c.Matches, c.Rejected = 0, 0
	return c.fill(func() Row {
		r, matches := s.next()
		c.Matches += int64(matches)
		if s.cfg.Filter && !r.Passes() {
			c.Rejected++
		}
		return r
	})
}

// FillUpdates takes the next rows of u.
func (c *Chunk) FillUpdates(u *Updates) error { return c.fill(u.next) }

func (c *Chunk) fill(next func() Row) error {
	buf := c.text[:0]
	for i := range c.Rows {
		r := next()
		c.Rows[i] = r
		switch c.form {
		case messages:
			buf = c.appendMessage(buf, &r)
		case encoded:
			buf = c.appendEncoded(buf, &r)
		case extracted:
			var err error
			if buf, err = c.appendExtracted(buf, &r); err != nil {
				return err
			}
		default:
			continue
		}
		c.at[i+1] = uint32(len(buf))
	}
	if len(c.text) > 0 && unsafe.SliceData(buf) != unsafe.SliceData(c.text) {
		return fmt.Errorf("%d bytes are not enough for %d rows", len(c.text), len(c.Rows))
	}
	return nil
}

// Message returns row i as JSON.
func (c *Chunk) Message(i int) []byte { return c.text[c.at[i]:c.at[i+1]:c.at[i+1]] }

// Encoded returns row i as an operator takes it.
func (c *Chunk) Encoded(i int) row.Row { return row.Row{Enc: c.Message(i)} }

// MessageSize returns the mean size of a message.
func (c *Chunk) MessageSize() float64 { return float64(c.at[len(c.Rows)]) / float64(len(c.Rows)) }

// Stream returns the name of row i's stream.
func (c *Chunk) Stream(i int) string { return streamNames[c.Rows[i].Port] }

var (
	streamNames  = [2]string{Left, Right}
	readingNames = [2]string{"temperature", "vibration"}
)

// appendMessage spells a row as devices do: about 150 bytes, of which a query
// uses the key, the time and the reading.
func (c *Chunk) appendMessage(b []byte, r *Row) []byte {
	b = append(b, `{"deviceId":"`...)
	b = append(b, c.keys.Bytes(r.Key)...)
	b = append(b, `","ts":`...)
	b = strconv.AppendInt(b, r.TS, 10)
	b = append(b, `,"`...)
	b = append(b, readingNames[r.Port]...)
	b = append(b, `":`...)
	b = appendHundredths(b, r.Reading)
	b = append(b, `,"humidity":`...)
	b = appendHundredths(b, r.Other)
	return append(b, `,"site":"hall-3","status":"ok","battery":87,"firmware":"2.14.1","rssi":-61}`...)
}

func (c *Chunk) appendEncoded(b []byte, r *Row) []byte {
	var digits [16]byte
	enc := row.Append(row.Row{Enc: b}, value.OfBytes(c.keys.Bytes(r.Key), true))
	enc = row.Append(enc, value.OfNumber(appendHundredths(digits[:0], r.Reading)))
	enc = row.Append(enc, value.OfNumber(appendHundredths(digits[:0], r.Other)))
	return enc.Enc
}

func (c *Chunk) appendExtracted(b []byte, r *Row) ([]byte, error) {
	c.message = c.appendMessage(c.message[:0], r)
	enc, err := c.extractors[r.Port].JSON(row.Row{Enc: b}, c.message, &c.scratch[r.Port])
	return enc.Enc, err
}

func appendHundredths(b []byte, n int32) []byte {
	b = strconv.AppendInt(b, int64(n/100), 10)
	return append(b, '.', byte('0'+n/10%10), byte('0'+n%10))
}

// Map returns row i as a Go program has it: the same fields as the message.
func (c *Chunk) Map(i int) map[string]any {
	r := &c.Rows[i]
	return BuildMap(r, c.keys.String(r.Key))
}

// Key returns row i's key.
func (c *Chunk) Key(i int) string { return c.keys.String(c.Rows[i].Key) }

// BuildMap builds the map of one row. It is not inlined, or the compiler could
// see that a caller throws it away.
//
//go:noinline
func BuildMap(r *Row, key string) map[string]any {
	return map[string]any{
		"deviceId":           key,
		"ts":                 r.TS,
		readingNames[r.Port]: r.Value(),
		"humidity":           float64(r.Other) / 100,
		"site":               "hall-3",
		"status":             "ok",
		"battery":            87,
		"firmware":           "2.14.1",
		"rssi":               -61,
	}
}

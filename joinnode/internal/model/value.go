package model

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
)

// field reads a dotted path of a row; nil when any step is missing.
func field(row map[string]any, path string) any {
	var v any = row
	for _, step := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

// isNull says whether v is SQL's NULL to a comparison or a key (§3: NaN is).
func isNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case float64:
		return math.IsNaN(v)
	case float32:
		return math.IsNaN(float64(v))
	}
	return false
}

// number returns the exact value of a Go number or json.Number, nil for
// anything else and for the infinities.
func number(v any) *big.Rat {
	if n, ok := v.(json.Number); ok {
		if r, ok := new(big.Rat).SetString(n.String()); ok {
			return r
		}
		return nil
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return new(big.Rat).SetInt64(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return new(big.Rat).SetUint64(rv.Uint())
	case reflect.Float32, reflect.Float64:
		return new(big.Rat).SetFloat64(rv.Float())
	}
	return nil
}

// infinity returns 1 or −1 for the infinities and 0 for anything else.
func infinity(v any) int {
	f := 0.0
	switch v := v.(type) {
	case float64:
		f = v
	case float32:
		f = float64(v)
	}
	switch {
	case math.IsInf(f, 1):
		return 1
	case math.IsInf(f, -1):
		return -1
	}
	return 0
}

// keyText writes one key value so that equal keys, and only those, have equal
// texts (§3).
func keyText(v any) string {
	if isNull(v) {
		return "null"
	}
	if r := number(v); r != nil {
		return "number " + r.RatString()
	}
	switch v := v.(type) {
	case float64:
		return "number " + strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		return "number " + strconv.FormatFloat(float64(v), 'g', -1, 32)
	case string:
		return "text " + strconv.Quote(v)
	case bool:
		return fmt.Sprintf("bool %t", v)
	case map[string]any, []any:
		return "json " + canonical(v)
	}
	return fmt.Sprintf("%T %v", v, v)
}

// canonical writes v as JSON with the members of objects in order of name.
func canonical(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for name, member := range v {
			parts = append(parts, strconv.Quote(name)+":"+canonical(member))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, element := range v {
			parts = append(parts, canonical(element))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return keyText(v)
}

// tupleText writes a composite key; quoting keeps different tuples apart.
func tupleText(values []any) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(strconv.Quote(keyText(v)) + ",")
	}
	return b.String()
}

// rowTime reads an event time (§2) in ns since the epoch; false means it is a
// bad timestamp.
func rowTime(v any, unit string) (int64, bool) {
	switch v := v.(type) {
	case time.Time:
		return wholeNanos(new(big.Rat).SetInt(new(big.Int).Add(
			new(big.Int).Mul(big.NewInt(v.Unix()), big.NewInt(1e9)), big.NewInt(int64(v.Nanosecond())))))
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return 0, false
		}
		return rowTime(t, unit)
	}
	r := number(v)
	if r == nil {
		return 0, false
	}
	if unit == "" {
		unit = "ns"
		for _, guess := range []struct {
			from float64
			unit string
		}{{1e9, "ss"}, {1e12, "ms"}, {1e15, "us"}, {1e18, "ns"}} {
			if r.Cmp(new(big.Rat).SetFloat64(guess.from)) >= 0 {
				unit = guess.unit
			}
		}
	}
	nanos := map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "ss": 1e9}[unit]
	return wholeNanos(r.Mul(r, new(big.Rat).SetInt64(nanos)))
}

func wholeNanos(r *big.Rat) (int64, bool) {
	if r.Sign() < 0 {
		return 0, false
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return n.Int64(), n.IsInt64()
}

// sub and add saturate (the head of the semantics page).
func sub(a, b int64) int64 {
	return clamp(new(big.Int).Sub(big.NewInt(a), big.NewInt(b)))
}

func add(a, b int64) int64 {
	return clamp(new(big.Int).Add(big.NewInt(a), big.NewInt(b)))
}

func clamp(n *big.Int) int64 {
	if n.IsInt64() {
		return n.Int64()
	}
	if n.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

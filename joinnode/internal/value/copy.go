package value

import (
	"errors"
	"fmt"
	"reflect"
)

// ErrTooDeep is returned for a Go value that nests more than MaxDepth levels or
// contains itself.
var ErrTooDeep = errors.New("value nests too deep or contains itself")

// MaxDepth is how many containers and pointers may lie inside one another in a
// value that comes in through the Go API.
const MaxDepth = 1000

// Copy returns a value that shares no map, slice or array with x, so that the
// caller of Emit may go on using his row. Pointers are followed. Unexported
// struct fields, channels and functions are taken over as they are. The error
// is ErrTooDeep.
func Copy(x any) (any, error) { return copyAny(x, 0) }

func copyAny(x any, depth int) (any, error) {
	switch x := x.(type) {
	case nil, string, bool, int, int64, float64:
		return x, nil
	case map[string]any:
		if x == nil {
			return x, nil
		}
		if depth >= MaxDepth {
			return nil, ErrTooDeep
		}
		out := make(map[string]any, len(x))
		for k, e := range x {
			c, err := copyAny(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[k] = c
		}
		return out, nil
	case []any:
		if x == nil {
			return x, nil
		}
		if depth >= MaxDepth {
			return nil, ErrTooDeep
		}
		out := make([]any, len(x))
		for i, e := range x {
			c, err := copyAny(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	}
	c, err := copyReflect(reflect.ValueOf(x), depth)
	if err != nil {
		return nil, err
	}
	return c.Interface(), nil
}

// copyReflect is Copy for types that are not plain JSON containers.
func copyReflect(v reflect.Value, depth int) (reflect.Value, error) {
	if depth > MaxDepth {
		return v, fmt.Errorf("%w: at a %s", ErrTooDeep, v.Type())
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v, nil
		}
		c, err := copyAny(v.Interface(), depth)
		if err != nil {
			return v, err
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(reflect.ValueOf(c))
		return out, nil
	case reflect.Pointer:
		if v.IsNil() {
			return v, nil
		}
		c, err := copyReflect(v.Elem(), depth+1)
		if err != nil {
			return v, err
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(c)
		return out.Convert(v.Type()), nil
	case reflect.Map:
		if v.IsNil() {
			return v, nil
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			c, err := copyReflect(it.Value(), depth+1)
			if err != nil {
				return v, err
			}
			out.SetMapIndex(it.Key(), c)
		}
		return out, nil
	case reflect.Slice:
		if v.IsNil() {
			return v, nil
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		return out, copyElements(out, v, depth)
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		return out, copyElements(out, v, depth)
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if !out.Field(i).CanSet() {
				continue
			}
			c, err := copyReflect(v.Field(i), depth+1)
			if err != nil {
				return v, err
			}
			out.Field(i).Set(c)
		}
		return out, nil
	}
	return v, nil
}

func copyElements(out, v reflect.Value, depth int) error {
	if isScalar(v.Type().Elem().Kind()) {
		reflect.Copy(out, v)
		return nil
	}
	for i := range v.Len() {
		c, err := copyReflect(v.Index(i), depth+1)
		if err != nil {
			return err
		}
		out.Index(i).Set(c)
	}
	return nil
}

func isScalar(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}

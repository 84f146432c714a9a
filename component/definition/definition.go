// Package definition reads the definitions of rule chains (JSON) and finds mistakes
// in them that RuleGo passes over: it takes any JSON object for a rule chain, and a
// chain without nodes then takes the place of one that works.
package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/internal/spelling"
)

// ErrDefinition is what every mistake in a definition answers to in errors.Is.
var ErrDefinition = errors.New("not a rule chain")

// Parse decodes a rule chain. It refuses what is no single JSON object, fields that
// a chain does not have, misspelt fields of metadata (also in other letter case), a
// chain without nodes, and two nodes of one id. Further in, fields that are not
// RuleGo's may stand, as editors put their own there.
func Parse(text []byte) (types.RuleChain, error) {
	var def types.RuleChain
	if err := knownFields("", text, fieldsOf[types.RuleChain](), true); err != nil {
		return def, err
	}
	if err := json.Unmarshal(text, &def); err != nil {
		return def, fmt.Errorf("%w: %w", ErrDefinition, err)
	}
	var top struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(text, &top); err == nil && top.Metadata != nil {
		if err := knownFields("metadata.", top.Metadata, fieldsOf[types.RuleMetadata](), false); err != nil {
			return def, err
		}
	}
	if len(def.Metadata.Nodes) == 0 {
		return def, fmt.Errorf("%w: it has no nodes (they stand in metadata.nodes)", ErrDefinition)
	}
	seen := make(map[string]bool, len(def.Metadata.Nodes))
	for i, node := range def.Metadata.Nodes {
		switch {
		case node == nil:
			return def, fmt.Errorf("%w: metadata.nodes[%d] is null", ErrDefinition, i)
		case node.Id != "" && seen[node.Id]:
			return def, fmt.Errorf("%w: two nodes have the id %q", ErrDefinition, node.Id)
		}
		seen[node.Id] = true
	}
	return def, nil
}

// CheckTypes returns an error when a node has a type that the registry does not know,
// with the type that was probably meant.
func CheckTypes(def types.RuleChain, registry types.ComponentRegistry) error {
	var errs []error
	for _, node := range def.Metadata.Nodes {
		if _, err := registry.NewNode(node.Type); err != nil {
			var known []string
			for name := range registry.GetComponents() {
				known = append(known, name)
			}
			slices.Sort(known)
			errs = append(errs, fmt.Errorf("%w: node %q has the unknown type %q%s", ErrDefinition, node.Id, node.Type, typeHint(node.Type, known)))
		}
	}
	return errors.Join(errs...)
}

// typeHint also finds a type whose prefix (x/) was left out.
func typeHint(name string, known []string) string {
	if hint := spelling.Hint(name, known); hint != "" {
		return hint
	}
	for _, k := range known {
		if _, behind, ok := strings.Cut(k, "/"); ok && spelling.Nearest(name, []string{behind}) != "" {
			return `: did you mean "` + k + `"?`
		}
	}
	return ""
}

// knownFields refuses fields of an object that are not among the given ones; without
// strict only those that are near one of them.
func knownFields(prefix string, object []byte, known []string, strict bool) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return fmt.Errorf("%w: %w", ErrDefinition, decodingError(object, err))
	}
	if fields == nil {
		return fmt.Errorf("%w: want an object, this is null", ErrDefinition)
	}
	var strange []string
	for name := range fields {
		if !slices.Contains(known, name) && (strict || spelling.Nearest(name, known) != "") {
			strange = append(strange, name)
		}
	}
	if len(strange) == 0 {
		return nil
	}
	slices.Sort(strange)
	name := strange[0]
	return fmt.Errorf("%w: unknown field %q (known: %s)%s", ErrDefinition, prefix+name, strings.Join(known, ", "), spelling.Hint(name, known))
}

// decodingError adds the line to a mistake in the JSON.
func decodingError(text []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := text[:min(int(syntax.Offset), len(text))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("want an object, this is a JSON %s", kind.Value)
	}
	return err
}

// fieldsOf are the names that a struct's fields have in JSON.
func fieldsOf[T any]() []string {
	var names []string
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

package streamaggregator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/internal/spelling"
)

var (
	// objectNames are the variables of RuleGo's expressions that have fields.
	objectNames = []string{types.MetadataKey, types.MsgKey, types.Vars, types.Global}
	// plainNames are those that have none.
	plainNames = []string{types.IdKey, types.TsKey, types.DataKey, types.MsgTypeKey, types.DataTypeKey}
	// functionNames are the functions that RuleGo adds to those of the language.
	functionNames = []string{"include", "fileExists"}

	expression = regexp.MustCompile(`\$\{([^}]*)\}`)
)

// checkNames finds names in the expressions of a stream key that can never have a
// value, so that every row would fail. A name alone may be a metadata key, and
// name.msg or name.metadata the output of another node; all else must be known.
func checkNames(source string) error {
	for _, m := range expression.FindAllStringSubmatch(source, -1) {
		program, err := expr.Compile(m[1], expr.AllowUndefinedVariables(), expr.Optimize(false))
		if err != nil {
			continue // part of a text that RuleGo reads in its own way
		}
		tree := program.Node()
		names := nameCheck{own: map[string]bool{}}
		ast.Walk(&tree, &names)
		if err := names.fault(); err != nil {
			return err
		}
	}
	return nil
}

// nameCheck collects what an expression takes out of names, and what it calls.
type nameCheck struct {
	own      map[string]bool // declared in the expression itself (let)
	accesses []access
	calls    []string
}

type access struct{ name, field string }

// Visit implements ast.Visitor.
func (c *nameCheck) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		c.own[n.Name] = true
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			c.calls = append(c.calls, callee.Value)
		}
	case *ast.MemberNode:
		of, ok := n.Node.(*ast.IdentifierNode)
		if !ok {
			return
		}
		field := "…"
		if s, ok := n.Property.(*ast.StringNode); ok {
			field = s.Value
		}
		c.accesses = append(c.accesses, access{of.Value, field})
	}
}

func (c *nameCheck) fault() error {
	for _, a := range c.accesses {
		switch {
		case c.own[a.name], slices.Contains(objectNames, a.name), slices.Contains(objectNames, a.field), slices.Contains(plainNames, a.field):
			continue
		case slices.Contains(plainNames, a.name):
			return fmt.Errorf("takes %q out of %s, which has no fields: a field of the row is ${msg.%s}, a metadata key ${metadata.%s}", a.field, a.name, a.field, a.field)
		}
		meant := spelling.Nearest(a.name, objectNames)
		if meant == "" && strings.HasPrefix(types.MetadataKey, a.name) { //nolint:gocritic // meta and the like are short for it
			meant = types.MetadataKey
		}
		if meant != "" {
			return fmt.Errorf("has the unknown name %q: did you mean ${%s.%s}?", a.name, meant, a.field)
		}
		return fmt.Errorf("has the unknown name %q: a field of the row is ${msg.%s}, a metadata key ${metadata.%s} (known: %s)",
			a.name, a.field, a.field, strings.Join(slices.Concat(objectNames, plainNames), ", "))
	}
	for _, name := range c.calls {
		if !c.own[name] && !slices.Contains(functionNames, name) {
			return fmt.Errorf("calls the unknown function %q", name)
		}
	}
	return nil
}

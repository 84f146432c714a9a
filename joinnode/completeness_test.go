package joinnode_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryEntryPointHasAnExample that runs: functions, and methods of
// Streamsql.
func TestEveryEntryPointHasAnExample(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var entries []string
	examples := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || !f.Name.IsExported():
			case strings.HasPrefix(f.Name.Name, "Example"):
				examples[f.Name.Name] = true
				require.True(t, printed(tree, f), "%s has no output, so it does not run", f.Name.Name)
			case strings.HasSuffix(file, "_test.go"):
			case f.Recv == nil:
				entries = append(entries, "Example"+f.Name.Name)
			case receiver(f) == "Streamsql":
				entries = append(entries, "ExampleStreamsql_"+f.Name.Name)
			}
		}
	}
	require.Greater(t, len(entries), 40)
	for _, e := range entries {
		require.True(t, examples[e], "%s is missing", e)
	}
}

func receiver(f *ast.FuncDecl) string {
	if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
		if name, ok := star.X.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}

// printed tells whether an example says what it prints.
func printed(tree *ast.File, f *ast.FuncDecl) bool {
	for _, c := range tree.Comments {
		if c.Pos() > f.Pos() && c.End() < f.End() && strings.Contains(strings.ToLower(c.Text()), "output:") {
			return true
		}
	}
	return false
}

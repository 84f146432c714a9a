package syntax

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestGolden runs testdata: "select", "script" and "expr" show the tree and the canonical
// text of their input, or its error. go test -run Golden -rewrite renews the
// files after a deliberate change.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "select":
				s, err := Parse(d.Input)
				if err != nil {
					return err.Error() + "\n"
				}
				tree, canonical := dumpSelect(s), Print(s)
				again, err := Parse(canonical)
				require.NoError(t, err, canonical)
				require.Equal(t, withoutPlaces(s), withoutPlaces(again))
				return tree + canonical + "\n"
			case "script":
				s, err := ParseScript(d.Input)
				if err != nil {
					return err.Error() + "\n"
				}
				tree, canonical := dumpScript(s), PrintScript(s)
				again, err := ParseScript(canonical)
				require.NoError(t, err, canonical)
				require.Equal(t, withoutPlaces(s.Statements), withoutPlaces(again.Statements))
				return tree + canonical + "\n"
			case "expr":
				var b strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					e, err := ParseExpr(line)
					if err != nil {
						b.WriteString(err.Error() + "\n")
						continue
					}
					tree, canonical := dump(e), PrintExpr(e)
					again, err := ParseExpr(canonical)
					require.NoError(t, err, canonical)
					require.Equal(t, withoutPlaces(e), withoutPlaces(again))
					b.WriteString(tree + "\n  " + canonical + "\n")
				}
				return b.String()
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

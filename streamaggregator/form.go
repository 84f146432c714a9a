package streamaggregator

import (
	goreflect "reflect"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/utils/reflect"
)

// Def implements types.ComponentDefGetter: what the visual editor shows of the
// node, its form and its relations.
func (n *Node) Def() types.ComponentForm {
	relations := []string{types.Success, types.Failure, RelationEvent, RelationLate}
	return types.ComponentForm{
		Type:     Type,
		Category: "stream",
		Label:    "Stream SQL",
		Desc: "Joins, aggregates and watches streams with SQL. Success: the message, untouched. " +
			"Failure: the message and why no row was taken from it. stream_event: one message per result. " +
			"stream_late: rows dropped after they were accepted (when lateEvents is on).",
		Icon:          "stream",
		Fields:        formFields(),
		RelationTypes: &relations,
		ComponentKind: types.ComponentKindNative,
	}
}

// formFields reads the tags of Configuration, and those of Table for the elements
// of tables, which RuleGo does not look into.
func formFields() types.ComponentFormFieldList {
	fields := fieldsOf(defaultConfiguration())
	for i := range fields {
		if fields[i].Name == "tables" {
			fields[i].Fields = fieldsOf(Table{Source: SourceInline, Format: TableJSON, Timeout: defaultTableTimeout.String()})
		}
	}
	return fields
}

func fieldsOf(defaults any) types.ComponentFormFieldList {
	v := goreflect.ValueOf(defaults)
	fields := reflect.GetFields(goreflect.StructField{Type: v.Type()}, v)
	for i := range fields {
		// RuleGo turns the required tag into a rule only.
		fields[i].Required = len(fields[i].Rules) > 0
	}
	return fields
}

package read

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// ForEdit exports a list with the revisions of its records, which apply compares.
type ForEdit[T any] struct {
	Asked *bool                   // In the options of the list.
	Of    func(T) *apitype.Number // The revision of a record that was read with it.
}

// RegisterForEdit declares the flag of lists that apply reads.
func (l *ListFlags) RegisterForEdit(cmd *cobra.Command) {
	cmd.Flags().
		BoolVar(&l.forEdit, "for-edit", false, "add the revision of each record, so that apply notices newer changes")
}

// open prepares the output of the list, and connects to the service. An export for editing asks for revisions if
// the service announces them.
func (l List[T, O]) open(
	ctx context.Context,
	s *cli.Session,
	flags *ListFlags,
) (*apiclient.Client, cli.Printer[T], error) {
	columns := l.Columns
	if flags.forEdit {
		columns = append(slices.Clip(columns), render.RevisionColumn(l.ForEdit.Of))
	}
	client, printer, err := cli.Open(ctx, s, l.Identifier, columns)
	if err == nil && l.Allowed != nil {
		err = l.Allowed(ctx, client)
	}
	if err != nil || l.ForEdit == nil {
		return client, printer, err
	}
	if flags.forEdit || printer.Excel != "" {
		*l.ForEdit.Asked, err = client.Has(ctx, apitype.ExtensionRevisions)
	}
	isUnknownPath := apiclient.KindOf(err) == apiclient.KindUnauthenticated // At some proxies.
	if err != nil && (flags.forEdit || !isUnknownPath) {
		return client, printer, err
	}
	if flags.forEdit && !l.hasRevisions() {
		err = cli.Failure(
			apiclient.KindRejected,
			"the service does not show the revisions of records, which --for-edit needs",
		)
		return client, printer, cli.WithHint(
			err,
			"leave --for-edit out; apply then replaces changes made since the export",
		)
	}
	return client, l.withRevisionColumn(printer), nil
}

// hasRevisions reports whether the list is read with revisions.
func (l List[T, O]) hasRevisions() bool { return l.ForEdit != nil && *l.ForEdit.Asked }

// withRevisionColumn adds the column of the revisions, also to columns that were asked for by name.
func (l List[T, O]) withRevisionColumn(p cli.Printer[T]) cli.Printer[T] {
	if !l.hasRevisions() {
		return p
	}
	column := render.RevisionColumn(l.ForEdit.Of)
	if len(p.Columns) > 0 && !slices.Contains(p.Columns, column.Name) {
		p.Columns = append(slices.Clone(p.Columns), column.Name)
	}
	return p.With(column)
}

// withRevisions adds the member with its revision to each record.
func withRevisions[T any](records iter.Seq2[apiclient.Record[T], error]) iter.Seq2[apiclient.Record[T], error] {
	return func(yield func(apiclient.Record[T], error) bool) {
		for record, err := range records {
			if revision := record.Revision(); revision != "" {
				record.Raw = WithMember(record.Raw, apitype.RevisionMember, json.RawMessage(revision))
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

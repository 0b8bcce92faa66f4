package read

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/render"
)

// personRecord is a person of a list.
type personRecord = apiclient.Record[apitype.Person]

// WantsConsents reports whether the output has a column of the newest consents.
func WantsConsents(s *cli.Session) bool {
	return slices.ContainsFunc(s.WantedColumns(), func(name string) bool {
		return name == apitype.ConsentsMember || strings.HasPrefix(name, apitype.ConsentsMember+".")
	})
}

// WithConsents makes a list of persons show the newest consents of each person, which are read one by one.
func WithConsents(l *List[apitype.Person, apitype.PersonListOptions]) {
	l.Columns = append(slices.Clip(l.Columns), render.NewestConsentColumns()...)
	l.Embed = func(
		ctx context.Context,
		client *apiclient.Client,
		records iter.Seq2[personRecord, error],
	) iter.Seq2[personRecord, error] {
		return embedInBatches(ctx, records, func(ctx context.Context, record personRecord) (personRecord, error) {
			return withNewestConsents(ctx, client, record)
		})
	}
}

// withNewestConsents adds the newest consents to a person.
func withNewestConsents(ctx context.Context, client *apiclient.Client, record personRecord) (personRecord, error) {
	id, err := apitype.RecordUUID(record.Raw)
	if err != nil {
		return record, cli.Failure(apiclient.KindUnavailable, "a person has no uuid")
	}
	read, err := client.Consents(ctx, id)
	consents, err := apiclient.Decoded(read, err)
	if err != nil {
		return record, err
	}
	newest, err := json.Marshal(consents.ByChannel())
	record.Raw = WithMember(record.Raw, apitype.ConsentsMember, newest)
	return record, err
}

// embedInBatches adds something to each record, several at a time. The first error ends it.
func embedInBatches[T any](
	ctx context.Context,
	records iter.Seq2[apiclient.Record[T], error],
	embed func(context.Context, apiclient.Record[T]) (apiclient.Record[T], error),
) iter.Seq2[apiclient.Record[T], error] {
	return func(yield func(apiclient.Record[T], error) bool) {
		for batch, err := range batches(records) {
			for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(batch), embed) {
				if !yield(outcome.Value, outcome.Err) || outcome.Err != nil {
					return
				}
			}
			if err != nil {
				yield(apiclient.Record[T]{}, err)
				return
			}
		}
	}
}

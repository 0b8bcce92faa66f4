package change

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// Processed returns the command processed.
func Processed(s *cli.Session) *cobra.Command {
	return cli.Group(s, "processed", "Tell the service which records were retrieved and handled.",
		"  fundesk processed mark call 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10", cli.Verbs{"mark": processedMark})
}

// markFlags are the flags of processed mark.
type markFlags struct {
	Flags
	file        string
	processedAt *apitype.Time
	source      string
	consumer    *apitype.UUID
}

func processedMark(s *cli.Session) *cobra.Command {
	m := &markFlags{}
	cmd := &cobra.Command{
		Use:               "mark [ENTITY UUID… | -]",
		ValidArgsFunction: completeEntity(s),
		Short:             "Mark records as processed",
		Args:              cobra.ArbitraryArgs,
		Long: "Mark records as processed: ENTITY is person, pledge, call or transaction. --file reads NDJSON of\n" +
			"entries with entityName and entityUuid, and perhaps processedAt, externalSourceName and\n" +
			"consumerIdentifier. Good entries are marked even when others fail.",
		Example: "  fundesk processed mark call 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n" +
			"  fundesk person list --all --created-after 1d -o id | fundesk processed mark person - --yes\n" +
			"  fundesk processed mark --file entries.ndjson --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			entries, err := m.entries(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			return m.run(s, cmd, entries)
		},
	}
	m.Register(cmd, false)
	cli.AllowEmptyFlag(cmd, &m.allowEmpty)
	f := cmd.Flags()
	f.StringVar(&m.file, "file", "", "NDJSON of processed entries, - for stdin")
	f.Var(cli.BodyTimeValue(s.App.Now, &m.processedAt), "processed-at", "time of the processing (default: now)")
	f.StringVar(
		&m.source,
		"external-source-name",
		"",
		"external source, for accounts with several (default: the profile's)",
	)
	f.Var(cli.UUIDValue(&m.consumer), "consumer-identifier", "identifier of the record in your own system")
	return cmd
}

// entries returns the entries to mark, from the arguments or the file.
func (m *markFlags) entries(ctx context.Context, s *cli.Session, args []string) ([]apitype.ProcessedEntry, error) {
	s.SetNow(&m.processedAt)
	if m.source == "" {
		m.source = s.Defaults().ExternalSourceName
	}
	if !utf8.ValidString(m.source) {
		return nil, cli.UsageError("--external-source-name " + ErrUTF8.Error())
	}
	if m.file != "" {
		if len(args) > 0 {
			return nil, cli.UsageError("--file takes no further arguments")
		}
		if m.consumer != nil {
			return nil, cli.UsageError("--consumer-identifier is for one record; in --file each entry has its own")
		}
		data, err := s.ReadInput(ctx, m.file)
		if err != nil {
			return nil, err
		}
		return m.parse(data)
	}
	if len(args) < 2 {
		return nil, cli.WithHint(
			cli.UsageError("missing "+[]string{"ENTITY", "UUID"}[len(args)]),
			"usage: fundesk processed mark ENTITY UUID…, or --file FILE",
		)
	}
	if !slices.Contains(apitype.EntityNames, apitype.EntityName(args[0])) {
		return nil, cli.NotOneOf("ENTITY", args[0], apitype.Texts(apitype.EntityNames))
	}
	ids, err := distinctTargets(ctx, s, args[1:], m.allowEmpty)
	if err != nil {
		return nil, err
	}
	if m.consumer != nil && len(ids) > 1 {
		return nil, cli.UsageError("--consumer-identifier is for one record; use --file for several")
	}
	entries := make([]apitype.ProcessedEntry, len(ids))
	for i, id := range ids {
		entries[i] = apitype.ProcessedEntry{
			EntityName:         apitype.EntityName(args[0]),
			EntityUUID:         id,
			ProcessedAt:        *m.processedAt,
			ConsumerIdentifier: m.consumer,
		}
		entries[i].SetSource(m.source)
	}
	return entries, nil
}

// parse reads NDJSON; every line is checked before anything is sent.
func (m *markFlags) parse(data []byte) ([]apitype.ProcessedEntry, error) {
	var entries []apitype.ProcessedEntry
	var wrong []string
	err := bulk.EachLine(bytes.NewReader(data), func(number int, line []byte) bool {
		entry, err := m.parseLine(line)
		if err != nil {
			wrong = append(wrong, "line "+strconv.Itoa(number)+": "+err.Error())
			return true
		}
		entries = append(entries, entry)
		return true
	})
	if err != nil {
		return nil, cli.UsageError("read the entries: " + err.Error())
	}
	if len(wrong) > 0 {
		return nil, cli.UsageError(wrong[0], wrong[:min(len(wrong), 20)]...)
	}
	return entries, nil
}

func (m *markFlags) parseLine(line []byte) (apitype.ProcessedEntry, error) {
	var unchecked apitype.UncheckedEntry
	if err := jsonv2.Unmarshal(line, &unchecked, jsonv2.RejectUnknownMembers(true)); err != nil {
		return apitype.ProcessedEntry{}, errors.New(
			"is not a processed entry: an object with entityName and entityUuid, and perhaps processedAt, " +
				"externalSourceName and consumerIdentifier",
		)
	}
	if unchecked.EntityName == nil || unchecked.EntityUUID == nil {
		return apitype.ProcessedEntry{}, errors.New("entityName and entityUuid are required")
	}
	if unchecked.ProcessedAt == nil {
		unchecked.ProcessedAt = new(m.processedAt.String())
	}
	entry, problem := unchecked.Check()
	if problem != "" {
		return entry, errors.New(problem)
	}
	entry.SetSource(m.source)
	return entry, nil
}

func (m *markFlags) run(s *cli.Session, cmd *cobra.Command, entries []apitype.ProcessedEntry) error {
	if err := m.check(cmd); err != nil {
		return err
	}
	printed, err := NewResults(s)
	if err != nil {
		return err
	}
	if len(entries) == 0 && m.allowEmpty {
		return printed.Close()
	}
	if len(entries) == 0 {
		return cli.UsageError("the file names no entry; nothing was marked")
	}
	chunks := slices.Collect(slices.Chunk(entries, apitype.ChunkEntries))
	changes := make([]apiclient.Change, len(chunks))
	for i, chunk := range chunks {
		changes[i], err = apiclient.MarkProcessedChange(chunk)
		if err != nil {
			return err
		}
	}
	if m.dryRun {
		return PrintRequests(s, len(changes) > 1, slices.Values(changes))
	}
	if len(entries) > 1 {
		first := make([]cli.RecordRef, min(len(entries), cli.NamedRecords))
		for i := range first {
			first[i] = cli.RecordRef{Noun: string(entries[i].EntityName), ID: entries[i].EntityUUID}
		}
		if err := s.AskChange(
			cmd.Context(),
			m.yes,
			"mark "+cli.Count(len(entries), "record")+" as processed",
			first,
			len(entries),
		); err != nil {
			return err
		}
	}
	if m.outbox {
		return enqueueMarks(s, cmd, printed, changes, chunks, m.hold)
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	err = client.EntityAccess.MarkProcessed(cmd.Context(), entries)
	refused, isMark := errors.AsType[*apiclient.MarkError](err)
	if err != nil && !isMark {
		return err
	}
	addMarks(printed, entries, refused)
	printing := cmp.Or(printed.Close(), s.CopyMarks(cmd.Context(), refused.Accepted(entries)))
	if isMark && len(refused.Unconfirmed) > 0 {
		return cli.WithHint(err, "the others are marked; run it again: marking again changes nothing")
	}
	return cmp.Or(err, printing) // More than that the results were not read.
}

// enqueueMarks puts the changes into the outbox, each with its entries, and tries them at once. What could not be sent,
// or was refused, stays there.
func enqueueMarks(
	s *cli.Session,
	cmd *cobra.Command,
	printed *Results,
	changes []apiclient.Change,
	chunks [][]apitype.ProcessedEntry,
	hold time.Duration,
) error {
	queued, err := Enqueue(cmd.Context(), s, changes, hold)
	if err != nil {
		return err
	}
	var failed error // A closed pipe must not hide it.
	for i, q := range queued {
		if q.Err != nil {
			failed = cmp.Or(failed, q.Err)
			continue
		}
		addMarks(printed, chunks[i], nil)
	}
	return cmp.Or(failed, printed.Close())
}

func addMarks(printed *Results, entries []apitype.ProcessedEntry, refused *apiclient.MarkError) {
	for i, entry := range entries {
		r := Result{UUID: entry.EntityUUID.String(), OK: true, Status: 204}
		if refused != nil {
			if i >= len(entries)-len(refused.Unconfirmed) {
				r.OK, r.Status, r.Error = false, refused.Cause.Status, new("perhaps not marked: "+refused.Cause.Error())
			}
			for _, failed := range refused.Failed {
				if failed.Names(entry) {
					r.OK, r.Status, r.Error = false, refused.Cause.Status, new(failed.ErrorMessage)
				}
			}
		}
		printed.Add(r)
	}
}

// completeEntity completes the kind of record, then records of it.
func completeEntity(s *cli.Session) cli.Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return cli.Values(apitype.EntityNames)(cmd, args, toComplete)
		}
		if complete := s.RecordsOf(args[0]); complete != nil {
			return complete(cmd, args[1:], toComplete)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

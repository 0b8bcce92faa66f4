package read

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

const entityChanges apitype.EntityName = "changes"

// changePuller retrieves the changes of records by the feed of the service.
type changePuller struct {
	pullFlags
	output[apitype.Change]
	session *cli.Session
	last    position
	path    string // The file of the position.
}

func pullChanges(s *cli.Session) *cobra.Command {
	p := &changePuller{session: s}
	cmd := &cobra.Command{
		Use:   string(entityChanges),
		Short: "Retrieve each change of a record",
		Args:  cli.NoArgs,
		Long: "Print each change of a person, a call or a pledge since the last pull, once and in order, as\n" +
			"NDJSON: its time, entity, uuid, operation and the names of the changed fields. The first pull\n" +
			"begins with the oldest change, 31 days ago. Erasures are listed, too. The account needs\n" +
			"changes:read. The position moves after each page was written. A pull that is cut short repeats\n" +
			"that page: a program recognises a repeated change by its position. If changes may be missing,\n" +
			"pull ends with exit code 8. This happens after 31 days without a pull, after a restore or a\n" +
			"load, and if the account may see other records now: begin again with --reset, and read all\n" +
			"records again. --follow pulls again and again, until it is interrupted. --exec runs no shell,\n" +
			"and nothing if nothing has changed; its program's failure is exit code 1.",
		Example: "  fundesk pull changes >> changes.ndjson\n" +
			"  fundesk pull changes --reset > all.ndjson\n" +
			"  fundesk pull changes --follow --exec 'python3 follow.py'",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	p.register(s, cmd)
	cmd.Flags().Lookup("reset").Usage = "begin again with the oldest change"
	return cmd
}

func (p *changePuller) run(cmd *cobra.Command) error {
	var err error
	p.output, err = openPull(cmd, p.session, p.pullFlags, render.ChangeColumns())
	if err != nil {
		return err
	}
	defer p.release()
	err = p.begin(cmd.Context())
	if err != nil {
		return err
	}
	err = follow(cmd.Context(), p.session, p.interval, func() (isLast bool, err error) {
		err = p.pull(cmd.Context())
		if errors.Is(err, apiclient.ErrLostPosition) {
			return false, cli.WithHint(err, "begin again: fundesk pull changes --reset")
		}
		return !p.follow, err
	})
	return ended(cmd.Context(), p.session, p.follow, err)
}

// begin reads the position where the pull begins.
func (p *changePuller) begin(ctx context.Context) error {
	t, err := p.session.Resolve()
	if err != nil {
		return err
	}
	p.last = position{Service: t.BaseURL, Query: string(entityChanges)}
	p.path = p.state
	if p.path == "" {
		p.path, err = positionPath(ctx, p.session, p.client, entityChanges, p.last)
		if err != nil {
			return err
		}
	}
	err = p.hold(p.path)
	if err != nil {
		return err
	}
	if p.reset {
		return write(p.path, p.last) // If its first page fails, the next pull begins there.
	}
	return p.last.load(p.path)
}

// pull writes the changes up to now, and keeps the position after each page.
func (p *changePuller) pull(ctx context.Context) error {
	count := 0
	for hasMore := true; hasMore; {
		o := apitype.ChangeListOptions{First: new(apitype.MaxPageSize), After: p.last.Change}
		page, err := p.client.ListChanges(ctx, o)
		if err != nil {
			return err
		}
		err = p.give(ctx, page.Records)
		if err != nil {
			return err
		}
		err = p.keepOutput(p.session)
		if err != nil {
			return err
		}
		p.last.Change = page.Next
		if !page.Until.IsZero() {
			p.last.After = page.Until
		}
		err = write(p.path, p.last)
		if err != nil {
			return err
		}
		count, hasMore = count+len(page.Records), page.HasMore
	}
	if !p.follow || count > 0 {
		p.session.Note("%s; the next pull begins at %s", cli.Count(count, "change"), p.last.After)
	}
	return nil
}

// give writes a page, or gives it to the program.
func (p *changePuller) give(ctx context.Context, records []apiclient.Record[apitype.Change]) error {
	if p.program != nil && len(records) == 0 {
		return nil
	}
	list, err := p.printer.List()
	if err != nil {
		return err
	}
	for _, record := range records {
		err := list.Add(record.Raw, record.Decode)
		if err != nil {
			return EndList(list, err)
		}
	}
	err = list.Close()
	if err != nil {
		return err
	}
	if p.program != nil {
		return p.program.run(ctx)
	}
	p.printer.NoHeader = true // Of the pages that follow.
	return nil
}

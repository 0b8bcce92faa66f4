package privacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Retentions returns the retention of each organization that has one.
func (s *Service) Retentions(ctx context.Context) ([]service.Retention, error) {
	return service.View(ctx, s.rules, "read the retention", service.Reader.Retentions)
}

// SetRetention changes the retention of an organization, or without one that of the whole database.
func (s *Service) SetRetention(
	ctx context.Context,
	organization apitype.UUID,
	set func(*service.Retention),
) (service.Retention, error) {
	var r service.Retention
	err := s.rules.Write(ctx, service.WriteIsolated, "change the retention", func(tx service.Tx) error {
		line := service.AuditLine{At: s.rules.TimeOf(tx), Operation: service.AuditRetentionSet, Fields: "audit"}
		if !organization.IsZero() {
			line.Record = &organization
			line.Fields = "calls,leads,persons"
			_, err := tx.Organization(organization)
			if err != nil {
				return service.OrUnknown(err, "organization", organization)
			}
		}
		all, err := tx.Retentions()
		if err != nil {
			return err
		}
		r = service.Retention{Organization: organization}
		isOwn := func(r service.Retention) bool { return r.Organization == organization }
		if i := slices.IndexFunc(all, isOwn); i >= 0 {
			r = all[i]
		}
		set(&r)
		return errors.Join(tx.SetRetention(r), tx.Audit(line))
	})
	return r, err
}

// Retired counts the data that a run of the retention erased or reduced for an organization, or would.
type Retired struct {
	Organization apitype.UUID `json:"organization,omitzero"` // Zero for the whole database.
	Calls        int          `json:"calls"`                 // That lost something.
	Leads        int          `json:"leads"`
	Persons      int          `json:"persons"`
	AuditLines   int          `json:"auditLines,omitzero"`
}

// retentionBatch is the number of records that one transaction reads. It is small, so that no request waits long.
const retentionBatch = 100

// A RetentionRun holds the options of a run of the retention.
type RetentionRun struct {
	Dry  bool // Only count.
	Sure bool // Run although the clock or the number of persons is doubtful.
}

// A run is doubtful if its clock is more than maxQuiet later than the newest change or the last run. It is also
// doubtful if it would erase more than maxShare percent of the persons, and at least doubtfulFrom.
const (
	maxQuiet     = 24 * time.Hour
	maxShare     = 5
	doubtfulFrom = 50
)

// ErrDoubt is returned by a retention run that erased nothing, because it might erase too much.
var ErrDoubt = errors.New("nothing was erased")

// lastRetention is the setting that holds the time of the last run.
const lastRetention = "retention-run"

// lastRun is the value of that setting.
type lastRun struct {
	At apitype.Time `json:"at"`
}

// RunRetention applies the retention periods of the organizations, and cleans the files. later has the tables that
// still contain erased bytes in unused space. A doubtful run changes nothing and returns ErrDoubt, unless the caller
// confirmed it.
func (s *Service) RunRetention(ctx context.Context, o RetentionRun) (all []Retired, later []string, err error) {
	run := &retaining{s: s, dry: true, now: s.rules.Now()}
	if !o.Dry && !o.Sure {
		all, err = run.all(ctx)
		if err == nil {
			err = run.doubt(ctx, all)
		}
	}
	if err == nil && !o.Dry {
		run.dry = false
		err = run.begin(ctx)
	}
	if err == nil {
		all, err = run.all(ctx)
	}
	if err != nil || o.Dry {
		return all, nil, err
	}
	scrubbed, err := s.Clean(ctx)
	if err != nil {
		err = fmt.Errorf("the periods are applied, but the files were not cleaned: %w", err)
	}
	return all, scrubbed.Later, err
}

type retaining struct {
	s   *Service
	dry bool
	now apitype.Time
}

func (r *retaining) all(ctx context.Context) ([]Retired, error) {
	retentions, err := r.s.Retentions(ctx)
	all := []Retired{}
	for _, of := range retentions {
		if err != nil {
			break
		}
		var retired Retired
		retired, err = r.organization(ctx, of)
		all = append(all, retired)
	}
	return all, err
}

// doubt returns ErrDoubt if the clock or the number of persons to erase may be wrong.
func (r *retaining) doubt(ctx context.Context, counted []Retired) error {
	var last *lastRun
	facts, err := service.View(
		ctx,
		r.s.rules,
		"look at the newest change",
		func(reader service.Reader) (facts service.RetentionFacts, err error) {
			last, err = settingOf[lastRun](reader, lastRetention)
			if err != nil {
				return facts, err
			}
			return reader.RetentionFacts()
		},
	)
	if err != nil {
		return err
	}
	newest := cmp.Or(last, new(lastRun)).At
	if facts.Newest != nil && facts.Newest.After(newest.Time) {
		newest = *facts.Newest
	}
	persons := 0
	for _, of := range counted {
		persons += of.Leads + of.Persons
	}
	if !newest.IsZero() && r.now.Sub(newest.Time) > maxQuiet {
		return fmt.Errorf(
			"run the retention: %w: the clock says %s, but the newest change is of %s; correct the clock, or use "+
				"--yes if it is right",
			ErrDoubt,
			r.now,
			newest,
		)
	}
	if persons >= doubtfulFrom && persons*100 > facts.Persons*maxShare {
		return fmt.Errorf(
			"run the retention: %w: this run would erase %d of %d persons, more than %d %%; look at --dry-run, then "+
				"use --yes",
			ErrDoubt,
			persons,
			facts.Persons,
			maxShare,
		)
	}
	return nil
}

// begin saves the time of the run.
func (r *retaining) begin(ctx context.Context) error {
	return r.s.rules.Write(ctx, service.WriteIsolated, "begin a run of the retention", func(tx service.Tx) error {
		return setJSON(tx, lastRetention, lastRun{At: r.now})
	})
}

func (r *retaining) organization(ctx context.Context, of service.Retention) (Retired, error) {
	var done Retired
	done.Organization = of.Organization
	query := func(months int) service.RetainQuery {
		return service.RetainQuery{Organization: of.Organization, Before: r.monthsAgo(months), Limit: retentionBatch}
	}
	var err error
	if of.Audit != nil {
		done.AuditLines, err = r.audit(ctx, *of.Audit)
		return done, err
	}
	if of.Calls != nil {
		done.Calls, err = r.calls(ctx, query(*of.Calls))
		if err != nil {
			return done, err
		}
	}
	if of.Leads != nil {
		q := query(*of.Leads)
		q.Leads = true
		done.Leads, err = r.persons(ctx, q, fmt.Sprintf("retention: leads, %dmo", *of.Leads))
		if err != nil {
			return done, err
		}
	}
	if of.Persons != nil {
		done.Persons, err = r.persons(ctx, query(*of.Persons), fmt.Sprintf("retention: persons, %dmo", *of.Persons))
	}
	return done, err
}

// monthsAgo returns the time of the run, moved back by a number of months. If the month has no such day, its last day
// counts.
func (r *retaining) monthsAgo(months int) apitype.Time {
	before := r.now.AddDate(0, -months, 0)
	if before.Day() != r.now.Day() {
		before = before.AddDate(0, 0, -before.Day())
	}
	return apitype.NewTime(before)
}

func (r *retaining) audit(ctx context.Context, months int) (int, error) {
	before := r.monthsAgo(months)
	if r.dry {
		return r.s.CountPrunable(ctx, before)
	}
	return r.s.PruneAudit(ctx, before, fmt.Sprintf("retention: audit, %dmo", months))
}

// calls blanks calls that ended before a time, a batch in a transaction, with one line each batch.
func (r *retaining) calls(ctx context.Context, q service.RetainQuery) (int, error) {
	var blanked int
	for more := true; more; {
		var last *service.Position
		var n int
		err := r.s.rules.Write(ctx, service.WriteIsolated, "take back calls", func(tx service.Tx) error {
			last, n = nil, 0
			rows, err := tx.CallsToRetain(q)
			if err != nil {
				return err
			}
			now := r.s.rules.TimeOf(tx)
			if !r.dry {
				now, err = tx.GiveTime(now)
			}
			if err != nil {
				return err
			}
			for _, row := range rows {
				last = &service.Position{At: row.UpdatedAt, UUID: row.UUID}
				changed, err := row.Retire(now)
				if err != nil {
					return err
				}
				if !changed {
					continue
				}
				if n++; r.dry {
					continue
				}
				if err := tx.RewriteCall(row); err != nil {
					return err
				}
				if err := tx.Audit(service.BlankedCall(row.UUID, nil, now)); err != nil {
					return err
				}
			}
			more = len(rows) == q.Limit
			if n == 0 || r.dry {
				return nil
			}
			return errors.Join(
				tx.SetSetting(service.UncleanSetting+retiredPersons, r.s.rules.TimeOf(tx).String()),
				tx.Audit(service.AuditLine{
					At:        r.s.rules.TimeOf(tx),
					Operation: service.AuditRetentionRun,
					Record:    &q.Organization,
					Records:   &n,
					Fields:    "notes,result.notes,externalMetadata,recordingDuration",
				}),
			)
		})
		if err != nil {
			return blanked, err
		}
		blanked += n
		q.After = last
	}
	return blanked, nil
}

// persons erases persons one by one, as they are erased on request.
func (r *retaining) persons(ctx context.Context, q service.RetainQuery, reason string) (int, error) {
	var n int
	for {
		found, err := service.View(
			ctx,
			r.s.rules,
			"look for persons",
			func(reader service.Reader) ([]service.PersonRow, error) { return reader.PersonsToRetain(q) },
		)
		if err != nil {
			return n, err
		}
		for _, row := range found {
			q.After = &service.Position{At: row.CreatedAt, UUID: row.UUID}
			done := true
			if !r.dry {
				done, err = r.person(ctx, row.UUID, q, reason)
				if err != nil {
					return n, err
				}
			}
			if done {
				n++
			}
		}
		if len(found) < q.Limit {
			return n, nil
		}
	}
}

// person erases one person, unless something has happened since the person was found.
func (r *retaining) person(
	ctx context.Context,
	id apitype.UUID,
	q service.RetainQuery,
	reason string,
) (bool, error) {
	line := service.AuditLine{
		Operation: service.AuditRetentionRun,
		Record:    &id,
		Person:    &id,
		Reason:    reason,
		Fields:    erasedFields,
	}
	var isErased bool
	err := r.s.erasing(ctx, "run the retention", func(tx service.Tx, record recorder) error {
		isErased = false
		err := tx.ExcludeErasure(false)
		if err != nil {
			return err
		}
		kept, err := tx.LockPersonData(id)
		if err != nil || !isOver(kept, q) {
			return err
		}
		isErased = true
		now, err := r.s.rules.ChangeTime(tx) // A run takes a while, and consumers with a copy read on during it.
		if err != nil {
			return err
		}
		return r.s.begin(tx, record, kept, now, plan{Line: line, Until: retiredPersons})
	})
	if err != nil || !isErased {
		return false, err
	}
	return true, r.s.finish(ctx, id)
}

// isOver reports whether nothing has happened with a person since a time, and nothing is to happen.
func isOver(k service.Kept, q service.RetainQuery) bool {
	old := func(t apitype.Time) bool { return t.Before(q.Before.Time) }
	isLead := len(k.Pledges) == 0
	if k.ErasedAt != nil || k.Waiting > 0 || isLead != q.Leads {
		return false
	}
	if !old(k.Person.CreatedAt) {
		return false
	}
	for _, c := range k.Calls {
		if !old(c.RequestedAt) || !old(c.UpdatedAt) {
			return false
		}
	}
	for _, l := range k.Pledges {
		if l.Status == apitype.PledgeLead || l.Status == apitype.PledgeActive || !old(l.UpdatedAt) {
			return false
		}
	}
	return true
}

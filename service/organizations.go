package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// AddOrganization saves a new organization; its uuid is chosen here when it has none.
func (s *Service) AddOrganization(ctx context.Context, o Organization) (Organization, error) {
	if o.UUID.IsZero() {
		o.UUID = apitype.NewUUID()
	}
	if err := o.check(); err != nil {
		return Organization{}, err
	}
	fields := []string{"name", "abbreviation", "maxCallAttempts", "coolingOff"}
	if o.Settings != nil {
		fields = append(fields, apitype.OrganizationSettings{}.Changed(*o.Settings)...)
	}
	return o, s.Write(ctx, WriteIsolated, "add the organization", func(tx Tx) error {
		if err := tx.InsertOrganization(o); err != nil {
			return orTaken(err, "organization")
		}
		return tx.Audit(AuditLine{
			At:        s.TimeOf(tx),
			Operation: AuditOrganizationAdd,
			Record:    &o.UUID,
			Fields:    strings.Join(fields, ","),
		})
	})
}

// SetOrganization changes the settings of an organization. set gets the present ones. The names stay, because
// documents of records contain them. A new maximum of attempts also applies to waiting calls, at once.
func (s *Service) SetOrganization(
	ctx context.Context,
	id apitype.UUID,
	set func(*Organization),
) (Organization, error) {
	var o Organization
	var err error
	err = s.Write(ctx, WriteShared, "change the organization", func(tx Tx) error {
		line := AuditLine{Operation: AuditOrganizationSet, Record: &id}
		o, err = s.changeOrganization(tx, id, line, func(o *Organization) error {
			set(o)
			return nil
		})
		return err
	})
	return o, err
}

// changeOrganization changes an organization in a shared change, so that it sees the attempts that were recorded while
// it waited for the organization. The line is that of the change, without its time and fields.
func (s *Service) changeOrganization(
	tx Tx,
	id apitype.UUID,
	line AuditLine,
	set func(*Organization) error,
) (Organization, error) {
	now := s.TimeOf(tx)
	o, err := tx.OrganizationForUpdate(id)
	if err != nil {
		return o, OrUnknown(err, "organization", id)
	}
	stored, err := tx.OrganizationSettings(Scope{Organizations: []apitype.UUID{id}})
	if err != nil {
		return o, err
	}
	before := o
	o.Settings = new(stored[0])
	if err := set(&o); err != nil {
		return o, err
	}
	if err := o.check(); err != nil {
		return o, err
	}
	changed := append(before.changed(o), stored[0].Changed(*o.Settings)...)
	if len(changed) == 0 {
		return o, nil
	}
	line.At, line.Fields = now, strings.Join(changed, ",")
	err = errors.Join(tx.UpdateOrganization(o), attemptsLimited(tx, o, before.MaxCallAttempts, now), tx.Audit(line))
	if err != nil {
		return o, err
	}
	return o, rulesChanged(tx, o, stored[0])
}

// rulesChanged makes the queue check an organization's calls again after its rules changed.
func rulesChanged(tx Tx, o Organization, before apitype.OrganizationSettings) error {
	was, err := RulesText(o.UUID, before)
	if err != nil {
		return err
	}
	is, err := RulesText(o.UUID, *o.Settings)
	if err != nil || is == was {
		return err
	}
	return tx.ResetLapsed(o.UUID)
}

func (o Organization) changed(after Organization) []string {
	var names []string
	if !equal(o.MaxCallAttempts, after.MaxCallAttempts) {
		names = append(names, "maxCallAttempts")
	}
	if o.CoolingOff != after.CoolingOff {
		names = append(names, "coolingOff")
	}
	return names
}

// check refuses settings that make no sense.
func (o Organization) check() error {
	refuse := func(detail string) error { return &Error{Kind: Invalid, Detail: detail} }
	if strings.TrimSpace(o.Name) == "" || strings.TrimSpace(o.Abbreviation) == "" {
		return refuse("an organization needs a name and an abbreviation")
	}
	if o.MaxCallAttempts != nil && *o.MaxCallAttempts < 0 {
		return refuse("the maximum of call attempts must not be negative")
	}
	if o.Settings != nil && len(o.Settings.Validate()) > 0 {
		return NotValid(o.Settings.Validate())
	}
	if o.CoolingOff < 0 || o.CoolingOff > 100*365*24*time.Hour {
		return refuse("the cooling-off must be from 0 to 100 years")
	}
	for _, name := range []string{o.Name, o.Abbreviation} {
		if problem := apitype.CheckName(name); problem != "" {
			return refuse(fmt.Sprintf("the name %q %s", name, problem))
		}
	}
	return nil
}

// Organizations returns all organizations with their settings, by uuid.
func (s *Service) Organizations(ctx context.Context) ([]Organization, error) {
	return View(ctx, s, "list the organizations", func(r Reader) ([]Organization, error) {
		all, err := r.Organizations()
		if err != nil {
			return nil, err
		}
		settings, err := r.OrganizationSettings(Scope{All: true}) // In the same order.
		if err != nil {
			return nil, err
		}
		for i := range all {
			all[i].Settings = &settings[i]
		}
		return all, nil
	})
}

// ownAccount returns the account that a program stores under a name for itself. It makes the account if there is none.
// The account sees everything. Racing processes get the same account.
func (s *Service) ownAccount(ctx context.Context, name string) (apitype.UUID, error) {
	setting := "account:" + name
	var id apitype.UUID
	read := func(r Reader) error {
		text, err := r.Setting(setting)
		if err == nil && text != "" {
			id, err = apitype.ParseUUID(text)
		}
		return err
	}
	if err := s.Read(ctx, ReadRecord, "read the account", read); err != nil || !id.IsZero() {
		return id, err
	}
	err := s.Write(ctx, WriteIsolated, "make the account", func(tx Tx) error {
		id = apitype.UUID{} // An earlier try may have chosen one.
		if err := read(tx); err != nil || !id.IsZero() {
			return err
		}
		id = apitype.NewUUID()
		account := Account{
			UUID:        id,
			Name:        name,
			Permissions: append(slices.Clone(Permissions), SettingsWrite, ChangesRead),
			Scope:       Scope{All: true},
			CreatedAt:   s.TimeOf(tx),
		}
		own := IssuedToken{UUID: id, Account: id, IssuedAt: account.CreatedAt}
		return errors.Join(accountAudited(tx, account), tx.InsertToken(own), tx.SetSetting(setting, id.String()))
	})
	return id, err
}

// User is a person of the organization, such as a recruiter or an agent.
type User struct {
	apitype.RecruiterUser
	Organization *apitype.UUID // Nil shows the name to every account.
	Subject      *apitype.UUID // The subject that signs in as the user, if an operator set it. Nil means by UUID.
	EndedAt      *apitype.Time // Set if the user may not sign in any more.
}

func (u User) check() error {
	problem := apitype.CheckUserName(u.Name)
	if strings.TrimSpace(u.Name) == "" {
		problem = "is blank"
	}
	if problem != "" {
		return &Error{Kind: Invalid, Detail: fmt.Sprintf("the name %q %s", u.Name, problem)}
	}
	return nil
}

// AddUser saves a new user. It chooses the uuid if there is none.
func (s *Service) AddUser(ctx context.Context, u User) (User, error) {
	if u.UUID.IsZero() {
		u.UUID = apitype.NewUUID()
	}
	if err := u.check(); err != nil {
		return User{}, err
	}
	return u, s.Write(ctx, WriteIsolated, "add the user", func(tx Tx) error {
		if u.Organization != nil {
			if err := (Scope{Organizations: []apitype.UUID{*u.Organization}}).check(tx); err != nil {
				return err
			}
		}
		if err := tx.InsertUser(u); err != nil {
			return orTaken(err, "user")
		}
		return tx.Audit(
			AuditLine{
				At:        s.TimeOf(tx),
				Operation: AuditUserAdd,
				Record:    &u.UUID,
				Fields:    "name,organization",
			},
		)
	})
}

// UserChange is what SetUser changes.
type UserChange struct {
	Name    string // Empty leaves it.
	Subject apitype.Patch[apitype.UUID]
	IsEnded *bool // Nil leaves it.
}

// SetUser changes all that the change names, or nothing. A name changes wherever it is shown. The person of a subject
// signs in as the user; a subject that another user has is refused. A user whose access has ended is refused from the
// next request on, whatever their token says.
func (s *Service) SetUser(
	ctx context.Context,
	id apitype.UUID,
	change UserChange,
) (u User, isChanged bool, err error) {
	err = s.Write(ctx, WriteIsolated, "change the user", func(tx Tx) error {
		u, err = tx.User(id)
		if err != nil {
			return OrUnknown(err, "user", id)
		}
		now := s.TimeOf(tx)
		before := u
		if err := change.apply(tx, &u, now); err != nil {
			return err
		}
		fields := before.changed(u)
		isChanged = fields != ""
		if !isChanged {
			return nil
		}
		line := AuditLine{
			At:        now,
			Operation: AuditUserSet,
			Record:    &id,
			Fields:    fields,
		}
		return errors.Join(tx.UpdateUser(u), tx.Audit(line))
	})
	return u, isChanged, err
}

// apply changes a user, or refuses the change.
func (c UserChange) apply(tx Tx, u *User, now apitype.Time) error {
	if !c.Subject.IsZero() {
		if err := c.applySubject(tx, u); err != nil {
			return err
		}
	}
	if c.Name != "" && c.Name != u.Name {
		u.Name = c.Name
		if err := u.check(); err != nil {
			return err
		}
	}
	if c.IsEnded == nil || *c.IsEnded == (u.EndedAt != nil) {
		return nil
	}
	u.EndedAt = nil
	if *c.IsEnded {
		u.EndedAt = &now
	}
	return nil
}

func (c UserChange) applySubject(tx Tx, u *User) error {
	var subject *apitype.UUID
	c.Subject.Apply(&subject)
	isOwn := subject != nil && *subject == u.UUID
	if isOwn {
		subject = nil
	}
	if equal(u.Subject, subject) {
		return nil
	}
	if subject != nil {
		if err := checkFree(tx, *subject); err != nil {
			return err
		}
	}
	u.Subject = subject
	return nil
}

// changed names the fields in which two users differ.
func (u User) changed(after User) string {
	var names []string
	if u.Name != after.Name {
		names = append(names, "name")
	}
	if !equal(u.Subject, after.Subject) {
		names = append(names, "subject")
	}
	if (u.EndedAt == nil) != (after.EndedAt == nil) {
		names = append(names, "endedAt")
	}
	return strings.Join(names, ",")
}

// Users returns all users, by uuid.
func (s *Service) Users(ctx context.Context) ([]User, error) {
	return View(ctx, s, "list the users", func(r Reader) ([]User, error) { return r.Users(Scope{All: true}) })
}

package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fundesk/apiclient/apitype"
)

// User is a person who works with the records, such as a recruiter or an agent.
type User struct {
	apitype.RecruiterUser
	Organization *apitype.UUID // Nil: every account sees the name.
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

// AddUser saves a new user; the uuid is chosen here when there is none.
func (s *Service) AddUser(ctx context.Context, u User) (User, error) {
	if u.UUID.IsZero() {
		u.UUID = s.newUUID()
	}
	if err := u.check(); err != nil {
		return User{}, err
	}
	return u, s.update(ctx, "add the user", func(tx Tx) error {
		if u.Organization != nil {
			if err := (Scope{Organizations: []apitype.UUID{*u.Organization}}).check(tx); err != nil {
				return err
			}
		}
		if err := tx.InsertUser(u); err != nil {
			return orTaken(err, "user")
		}
		return tx.Audit(AuditLine{At: s.timeOf(tx), Operation: AuditUserAdd, Record: &u.UUID, Fields: "name,organization"})
	})
}

// RenameUser gives a user another name, wherever it is shown.
func (s *Service) RenameUser(ctx context.Context, id apitype.UUID, name string) (u User, err error) {
	return u, s.update(ctx, "change the user", func(tx Tx) error {
		if u, err = tx.User(id); err != nil {
			return orUnknown(err, "user", id)
		}
		u.Name = name
		if err := u.check(); err != nil {
			return err
		}
		line := AuditLine{At: s.timeOf(tx), Operation: AuditUserSet, Record: &id, Fields: "name"}
		return errors.Join(tx.UpdateUser(u), tx.Audit(line))
	})
}

// Users are all users, by uuid.
func (s *Service) Users(ctx context.Context) ([]User, error) {
	return viewed(ctx, s, "list the users", func(r Reader) ([]User, error) { return r.Users(Scope{All: true}) })
}

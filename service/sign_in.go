package service

import (
	"context"
	"errors"
	"time"

	"fundesk/apiclient/apitype"
)

// SignIn verifies the access tokens of an identity provider.
type SignIn interface {
	// Issued reports whether a token claims to be of the provider. It verifies nothing.
	Issued(token string) bool
	// Verify returns the person of a valid token, or why it is refused, for the log. The error is Unavailable if the
	// provider could not be asked for its keys.
	Verify(ctx context.Context, token string, now time.Time) (SignedIn, error)
}

// SignedIn is a person, as an access token describes them.
type SignedIn struct {
	Subject     apitype.UUID // The same for each token of the person. It becomes the uuid of a new user.
	Name        string
	IsMapped    bool   // The map gives the person a role.
	Unmapped    string // Why it gives none, for the log: it holds nothing of the token.
	Permissions []Permission
	Scope       Scope
	Expires     time.Time
}

// SignedInUser is the stored user of a signed-in person.
type SignedInUser struct {
	User  User
	Epoch string // The epoch of the database.
}

// authenticatePerson returns the account of a person with a token of the identity provider.
func (s *Service) authenticatePerson(ctx context.Context, token string) (Account, error) {
	if _, err := s.keys.fresh(ctx); err != nil { // Cursors and links are made with it.
		return Account{}, err
	}
	person, err := s.signIn.Verify(ctx, token, s.clock())
	if KindOf(err) == Unavailable {
		return Account{}, err
	}
	if err != nil {
		return Account{}, refusedFor(err)
	}
	stored, err := s.userOfPerson(ctx, person)
	if err != nil {
		return Account{}, err
	}
	if stored.User.EndedAt != nil {
		return Account{}, refusedFor(errors.New("the user's access has ended"))
	}
	if !person.IsMapped {
		return Account{}, &Error{
			Kind:   Forbidden,
			Detail: "you are signed in, but no entry of the service's map gives you a role; ask its operator",
			Cause:  errors.New(person.Unmapped),
		}
	}
	return Account{
		UUID:        stored.User.UUID,
		Name:        stored.User.Name,
		Permissions: person.Permissions,
		Scope:       person.Scope,
		Epoch:       stored.Epoch,
		Person:      &apitype.UserName{UUID: stored.User.UUID, Name: stored.User.Name},
	}, nil
}

// refusedFor refuses a token. The reason is for the log.
func refusedFor(reason error) error {
	refusal := errUnauthenticated()
	refusal.Cause = reason
	return refusal
}

// userOfPerson returns the stored user of a person. The first sign-in with a role creates it.
func (s *Service) userOfPerson(ctx context.Context, person SignedIn) (SignedInUser, error) {
	find := func() (found SignedInUser, err error) {
		err = s.Read(ctx, ReadRecord, "look up the user", func(r Reader) (err error) {
			found, err = r.SignedInUser(person.Subject)
			return err
		})
		return found, err
	}
	found, err := find()
	if !errors.Is(err, ErrNoRow) || !person.IsMapped {
		if errors.Is(err, ErrNoRow) {
			return SignedInUser{}, nil
		}
		return found, err
	}
	user := User{RecruiterUser: apitype.RecruiterUser{UUID: person.Subject, Name: person.Name}}
	if user.check() != nil { // A claim may hold any text.
		user.Name = nameOfUnnamed(person.Subject)
	}
	if _, err := s.AddUser(ctx, user); err != nil && KindOf(err) != Conflict { // Another request may have been first.
		return SignedInUser{}, err
	}
	return find()
}

// nameOfUnnamed returns the name of a user whose token has no usable name.
func nameOfUnnamed(user apitype.UUID) string { return "user " + user.String()[:8] }

// ActingUser returns the user who acts in a request: a signed-in person acts as themselves. Another user in the
// request is refused, and a missing one is filled in. Programs name any user, or none.
func (c Caller) ActingUser(named *apitype.UUID) (*apitype.UUID, error) {
	return c.ActingUserAt(apitype.Violation{Pointer: "/userUuid"}, named)
}

// ActingUserAt is ActingUser for a user whom the request names at another place than in userUuid.
func (c Caller) ActingUserAt(place apitype.Violation, named *apitype.UUID) (*apitype.UUID, error) {
	if c.Person == nil {
		return named, nil
	}
	isOther := named != nil && !named.IsZero() && *named != c.Person.UUID
	if isOther {
		place.Message = "is another user than the one who is signed in"
		return nil, &Error{
			Kind:       Forbidden,
			Detail:     "a signed-in person acts as themselves",
			Violations: apitype.Violations{place},
		}
	}
	return &c.Person.UUID, nil
}

// checkFree refuses a subject that a user has. The user of the first sign-in gives it away once their access has ended.
func checkFree(tx Tx, subject apitype.UUID) error {
	holder, err := tx.SignedInUser(subject)
	if errors.Is(err, ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	u := holder.User
	wasGiven := u.UUID != subject
	if wasGiven {
		return conflict("the subject is that of user %s (%s); to free it: fundeskd user set %[1]s --subject ''",
			u.UUID, u.Name)
	}
	if u.EndedAt == nil {
		return conflict("the subject has signed in as user %s (%s) already; to give it away, end that one first: "+
			"fundeskd user set %[1]s --ended", u.UUID, u.Name)
	}
	return nil
}

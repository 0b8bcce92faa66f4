package apiclient

import (
	"context"
	"iter"

	"fundesk/apiclient/apitype"
)

const personsPath = "/api/v1/persons"

// PersonsService reads persons. What changes them is a Change, for Client.Send.
type PersonsService struct{ endpoint[apitype.Person] }

// List fetches one page.
// GET /api/v1/persons (interface: Persons)
func (s *PersonsService) List(ctx context.Context, o apitype.PersonListOptions) (Page[apitype.Person], error) {
	return s.list(ctx, o.Query())
}

// All walks the list from o.After on, newest first. A non-nil error ends it.
func (s *PersonsService) All(ctx context.Context, o apitype.PersonListOptions, all AllOptions) iter.Seq2[Record[apitype.Person], error] {
	return s.all(ctx, o.Query(), all)
}

// Get fetches one person.
// GET /api/v1/persons/{uuid} (interface: Persons)
func (s *PersonsService) Get(ctx context.Context, id apitype.UUID) (Record[apitype.Person], error) {
	return s.get(ctx, id)
}

// CreatePersonChange is a person's creation as it is sent.
func CreatePersonChange(r apitype.CreatePersonRequest) (Change, error) {
	return newCreation(OpCreatePerson, &r.UUID, &r)
}

// UpdatePersonChange is a person's update as it is sent.
func UpdatePersonChange(id apitype.UUID, r apitype.UpdatePersonRequest) (Change, error) {
	return newChange(OpUpdatePerson, id, r)
}

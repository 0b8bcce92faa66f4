package apiclient

import (
	"context"
	"iter"
	"net/http"

	"fundesk/apiclient/apitype"
)

const personsPath = "/api/v1/persons"

// PersonsService is the operations on persons.
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

// Create creates a person under the uuid of the request, or a new one.
// POST /api/v1/persons (interface: Persons)
func (s *PersonsService) Create(ctx context.Context, r apitype.CreatePersonRequest) (Record[apitype.Person], error) {
	return s.send(ctx)(CreatePersonChange(r))
}

// Update changes the fields that the request names.
// PUT /api/v1/persons/{uuid}/actions/update (interface: Persons)
func (s *PersonsService) Update(ctx context.Context, id apitype.UUID, r apitype.UpdatePersonRequest) (Record[apitype.Person], error) {
	return s.send(ctx)(UpdatePersonChange(id, r))
}

// CreatePersonChange is a person's creation as it is sent.
func CreatePersonChange(r apitype.CreatePersonRequest) (Change, error) {
	return newCreation(OpCreatePerson, personsPath, &r.UUID, func() any { return r })
}

// UpdatePersonChange is a person's update as it is sent.
func UpdatePersonChange(id apitype.UUID, r apitype.UpdatePersonRequest) (Change, error) {
	return newChange(OpUpdatePerson, id, http.MethodPut, personsPath+"/"+id.String()+"/actions/update", r)
}

// send returns a function that sends a change and reads the record it answers.
func (e endpoint[T]) send(ctx context.Context) func(Change, error) (Record[T], error) {
	return func(ch Change, err error) (Record[T], error) {
		if err != nil {
			return Record[T]{}, err
		}
		answer, err := e.client.Send(ctx, ch)
		if err != nil {
			return Record[T]{}, err
		}
		return record[T](answer), nil
	}
}

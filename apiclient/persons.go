package apiclient

import "fundesk/apiclient/apitype"

const personsPath = "/api/v1/persons"

// CreatePersonChange returns the change that creates a person.
func CreatePersonChange(r apitype.CreatePersonRequest) (Change, error) {
	return newCreation(OpCreatePerson, &r.UUID, &r)
}

// UpdatePersonChange returns the change that updates a person.
func UpdatePersonChange(id apitype.UUID, r apitype.UpdatePersonRequest) (Change, error) {
	return newChange(OpUpdatePerson, id, r)
}

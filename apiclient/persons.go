package apiclient

import "fundesk/apiclient/apitype"

const personsPath = "/api/v1/persons"

// CreatePersonChange is a person's creation as it is sent.
func CreatePersonChange(r apitype.CreatePersonRequest) (Change, error) {
	return newCreation(OpCreatePerson, &r.UUID, &r)
}

// UpdatePersonChange is a person's update as it is sent.
func UpdatePersonChange(id apitype.UUID, r apitype.UpdatePersonRequest) (Change, error) {
	return newChange(OpUpdatePerson, id, r)
}

package httpapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestDonorOpensDuringACreation creates a call of a donor who may not be called, while another process saves what lets
// the donor be called. The two do not see each other's rows. The queue gives the call.
func TestDonorOpensDuringACreation(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	const ended = `,"externalSource":{"name":"crm","identifier":"1"},"status":"cancelled","cancelledAt":"2020-01-01"`
	optIn := func(f *floor, donor apitype.UUID) {
		f.update(donor, `{"optIns":{"phone":true}}`)
	}
	for _, test := range []struct {
		name, donor, pledge string
		rules               apitype.OrganizationSettings
		open                func(f *floor, donor apitype.UUID)
	}{
		{name: "opted out", donor: `,"optIns":{"phone":false}`, open: optIn},
		{
			name: "not opted in", open: optIn,
			rules: apitype.OrganizationSettings{RequireOptIn: []apitype.CallType{apitype.CallWinback}},
		},
		{
			name: "a pledge that ended", pledge: ended, rules: apitype.OrganizationSettings{YearsAfterEnd: 3},
			open: func(f *floor, donor apitype.UUID) { f.pledge(donor, "") },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := postgresFloor(t)
			f.setRules(test.rules)
			donor := f.donorWith(f.organization, test.donor)
			if test.pledge != "" {
				f.pledge(donor, test.pledge)
			}
			f.callable("before")
			s := f.On(hooked{f.Store, once("before InsertCall", func() { test.open(f, donor) })})
			answer, err := s.CreateCall(t.Context(), f.caller(), apitype.CreateCallRequest{
				PersonUUID:  donor,
				RequestedAt: f.In(-time.Hour),
				Type:        new(apitype.CallWinback),
			})
			var call apitype.Call
			servicetest.Check(t, errors.Join(err, json.Unmarshal(answer.JSON, &call)))
			f.callable("the call", call.UUID)
		})
	}
}

// TestObjectionBesideAConsent saves the objection of a donor who had opted out already, while another process adds a
// consent from before it. The objection changes no value, and it counts all the same.
func TestObjectionBesideAConsent(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	for name, object := range map[string]func(f *floor, s *service.Service, c service.Caller, donor apitype.UUID) error{
		"a reported call": func(f *floor, s *service.Service, c service.Caller, donor apitype.UUID) error {
			_, err := s.CreateCall(f.t.Context(), c, apitype.CreateCallRequest{
				PersonUUID:       donor,
				RequestedAt:      f.Now(),
				Status:           new(apitype.CallCompleted),
				ExternalMetadata: &apitype.CallExternalMetadataRequest{ApplicationName: new("dialer")},
				Result:           &apitype.CallResultRequest{ResultCode: new("stop")},
			})
			return err
		},
		"an update": func(f *floor, s *service.Service, c service.Caller, donor apitype.UUID) error {
			var request apitype.UpdatePersonRequest
			servicetest.Check(f.t, json.Unmarshal([]byte(`{"optIns":{"phone":false}}`), &request))
			_, err := s.UpdatePerson(f.t.Context(), c, donor, nil, request)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := postgresFloor(t)
			f.setEffects()
			donor := f.donorWith(f.organization, `,"optIns":{"phone":false}`)
			s := f.On(hooked{f.Store, once("after Person", func() {
				servicetest.Same(t, "the consent", http.StatusCreated, f.addConsent(donor, "phone consent", 1))
			})})
			servicetest.Check(t, object(f, s, f.caller(), donor))
			var after optIns
			f.get(personPath(donor)).Decode(&after)
			servicetest.Same(t, "the donor", optIns{Phone: new(false)}, after)
		})
	}
}

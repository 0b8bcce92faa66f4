package embedded

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// collect makes a sample in memory.
func collect(t *testing.T, o SampleOptions) []service.LoadRecord {
	t.Helper()
	var records []service.LoadRecord
	err := Sample(o, func(r service.LoadRecord) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

var sampleNow = time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)

// TestSampleIsTheSameForTheSameSeed holds from release to release: texts about the sandbox name its records. A change
// of the records changes their digest here.
func TestSampleIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	text := func(o SampleOptions) string {
		data, err := json.Marshal(collect(t, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := text(SampleOptions{Persons: 100, Seed: 7, Now: sampleNow})
	if diff := cmp.Diff(first, text(SampleOptions{Persons: 100, Seed: 7, Now: sampleNow})); diff != "" {
		t.Errorf("second run differs:\n%s", diff)
	}
	if first == text(SampleOptions{Persons: 100, Seed: 8, Now: sampleNow}) {
		t.Error("another seed: got the same records, want others")
	}
	const want = "f4210819cdddfdebd889ffcf01008882e4d2b052ef1bfcc8eb2d985a91cb210c"
	got := fmt.Sprintf("%x", sha256.Sum256([]byte(text(SampleOptions{Persons: 300, Seed: 7, Now: sampleNow}))))
	if got != want {
		t.Errorf("got records with the digest %s, want those with %s", got, want)
	}
}

func TestSampleHasEveryKindAndState(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, record := range collect(t, SampleOptions{Now: sampleNow}) {
		seen[string(record.Kind)]++
		switch data := record.Data.(type) {
		case service.LoadedPerson:
			seen["language "+*data.Language]++
			if data.QualityResult.Pointer() != nil {
				seen["quality result"]++
			}
		case service.LoadedPledge:
			seen["pledge "+string(data.Status)]++
			if data.ExternalSource.Pointer() != nil {
				seen["external pledge"]++
			}
		case service.LoadedCall:
			seen["call "+string(data.Status)]++
			seen["call "+string(data.Type)]++
			if data.ExternalMetadata.Pointer() != nil {
				seen["external call"]++
			}
		case service.LoadedTransaction:
			seen["transaction "+*data.Method]++
		}
	}
	want := map[string]int{
		"organization":                           2,
		"user":                                   20,
		"focusArea":                              6,
		"person":                                 2000,
		"pledge":                                 2000,
		"call":                                   2000,
		"transaction":                            1000,
		"language nl":                            500,
		"language de":                            500,
		"quality result":                         1000,
		"pledge lead":                            50,
		"pledge active":                          50,
		"pledge dropped":                         50,
		"pledge cancelled":                       50,
		"pledge fulfilled":                       50,
		"external pledge":                        100,
		"call requested":                         100,
		"call completed":                         100,
		"call cancelled":                         20,
		"call expired":                           20,
		"external call":                          50,
		"call verification":                      100,
		"call happy_call":                        100,
		"call winback":                           50,
		"transaction " + apitype.PaymentQRMethod: 50,
		"transaction direct_debit":               500,
	}
	for what, least := range want {
		if seen[what] < least {
			t.Errorf("%s: got %d, want at least %d", what, seen[what], least)
		}
	}
}

func TestSamplePersonsPassTheChecksOfTheInterface(t *testing.T) {
	t.Parallel()
	for _, record := range collect(t, SampleOptions{Persons: 500, Seed: 3, Now: sampleNow}) {
		p, ok := record.Data.(service.LoadedPerson)
		if !ok {
			continue
		}
		request := apitype.CreatePersonRequest{
			UUID:                       &p.UUID,
			OwningOrganizationUUID:     p.OwningOrganizationUUID,
			RecruitingOrganizationUUID: p.RecruitingOrganizationUUID,
			DateOfBirth:                p.DateOfBirth,
			SocialSecurityNumber:       p.SocialSecurityNumber.Pointer(),
			Gender:                     p.Gender,
			PhoneNumber:                p.PhoneNumber,
			MobilePhoneNumber:          p.MobilePhoneNumber,
			Email:                      p.Email,
			Language:                   p.Language,
			IBAN:                       p.IBAN,
			Name: &apitype.Name{
				Initials:       p.Initials,
				FirstName:      p.FirstName,
				LastNamePrefix: p.LastNamePrefix,
				LastName:       p.LastName,
			},
			Address: p.Address.Pointer(),
		}
		if v := request.Validate(sampleNow); len(v) > 0 {
			t.Errorf("person %s: %v", p.UUID, v)
		}
		if a := p.Address.Value(); !zipCodes[a.Country].MatchString(a.ZipCode) {
			t.Errorf("person %s: got the zip code %q, which is none of %s", p.UUID, a.ZipCode, a.Country)
		}
	}
}

var zipCodes = map[string]*regexp.Regexp{
	"NL": regexp.MustCompile(`^\d{4} [A-Z]{2}$`),
	"DE": regexp.MustCompile(`^\d{5}$`),
}

func TestSampleTimesHaveCome(t *testing.T) {
	t.Parallel()
	for _, record := range collect(t, SampleOptions{Persons: 1000, Seed: 5, Now: sampleNow}) {
		var times map[string]apitype.Time
		switch data := record.Data.(type) {
		case service.LoadedPerson:
			times = map[string]apitype.Time{"createdAt": data.CreatedAt}
		case service.LoadedPledge:
			times = map[string]apitype.Time{"createdAt": data.CreatedAt, "updatedAt": data.UpdatedAt}
		case service.LoadedCall:
			times = map[string]apitype.Time{"requestedAt": data.RequestedAt, "lastUpdatedAt": data.LastUpdatedAt}
			if data.LastUpdatedAt.Before(data.RequestedAt.Time) {
				t.Errorf("call %s: last updated %s before it was requested %s",
					data.UUID, data.LastUpdatedAt, data.RequestedAt)
			}
		}
		for name, at := range times {
			if at.After(sampleNow) {
				t.Errorf("%s: %s is %s, after now", record.Kind, name, at)
			}
		}
	}
}

func TestSampleEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	calls := 0
	err := Sample(SampleOptions{Now: sampleNow}, func(service.LoadRecord) error {
		if calls++; calls == 40 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || calls != 40 {
		t.Errorf("got %v after %d records, want %v after 40", err, calls, broken)
	}
}

// TestSampleDefers shows that some calls of a sample are deferred, for any agent and for one.
func TestSampleDefers(t *testing.T) {
	t.Parallel()
	deferred, kept := 0, 0
	for _, record := range collect(t, SampleOptions{Now: sampleNow}) {
		call, ok := record.Data.(service.LoadedCall)
		if !ok || call.DeferredUntil == nil {
			continue
		}
		deferred++
		if call.DeferredFor != nil {
			kept++
		}
		if call.Status != apitype.CallRequested || !call.DeferredUntil.After(sampleNow) {
			t.Errorf("got a call that is %s, deferred until %v", call.Status, call.DeferredUntil)
		}
	}
	if kept < 3 || deferred < kept+3 {
		t.Errorf("got %d calls deferred, %d of them for a user, want some of each", deferred, kept)
	}
}

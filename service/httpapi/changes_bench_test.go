//go:build unix

package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// BenchmarkChanges prints the processor time of a page of 100 changes to an account that sees everything, and to one of
// an organization, beside a page of 100 calls.
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkChanges -benchtime 1x -persons 66000
func BenchmarkChanges(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(*persons)
	owner := h.Organization("A")
	account := h.Account(follower())
	all, some := h.TokenOf(account), h.Token(follower(), servicetest.For(owner))
	for range 50 {
		ids := make([]apitype.UUID, 100)
		records := make([]service.LoadRecord, len(ids))
		for i := range ids {
			ids[i] = apitype.NewUUID()
			records[i] = service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
				OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner,
				Person: apitype.Person{UUID: ids[i], CreatedAt: apitype.NewTime(h.Clock.Now())},
			}}
		}
		h.Load(records...)
		servicetest.Check(b, h.Store.Write(b.Context(), service.WriteIsolated, func(tx service.Tx) error {
			for _, id := range ids {
				line := service.AuditLine{
					At:        h.Service.TimeOf(tx),
					Account:   &account.UUID,
					RequestID: id.String(),
					Operation: service.AuditPersonUpdate,
					Record:    &id,
					Person:    &id,
					Fields:    "firstName,lastName,address.city",
				}
				err := tx.Audit(line)
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	h.Clock.Advance(2 * time.Hour) // Without a position the feed begins an hour after the oldest time.
	servicetest.Check(b, h.Store.Analyze(b.Context()))
	c := &costs{b: b}
	by := func(token, path string) func() func() {
		return func() func() {
			return func() { (&costs{b: c.b, token: token}).ask(h.Handler, http.MethodGet, path, "") }
		}
	}
	h.Do(all, http.MethodGet, "/fundesk/v1/changes", "") // Until then it is not known which changes are complete.
	used := func() time.Duration { return processorTime(b) }
	for b.Loop() {
		for name, token := range map[string]string{"everything": all, "an organization": some} {
			page, list := inTurn(used, by(token, "/fundesk/v1/changes?first=100"), by(all, "/api/v1/calls?first=100"))
			fmt.Printf("100 changes of %s: %d µs; 100 calls: %d µs\n", name, page.Microseconds(), list.Microseconds())
		}
	}
}

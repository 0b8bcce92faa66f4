// Command generated is a day with the service through a client that oapi-codegen made from
// openapi.json: it compiles, amounts keep their cents, and refusals are read. generated.sh makes the
// package service and runs this.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"generated/service"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := day(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "generated:", err)
		os.Exit(1)
	}
	fmt.Println("the generated client did its day")
}

// newUUID returns an identifier of version 4.
func newUUID() (id service.UUID) {
	_, _ = rand.Read(id[:]) // It never fails.
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func day(ctx context.Context) error {
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("FUNDESK_TOKEN"))
		return nil
	}
	c, err := service.NewClientWithResponses(os.Getenv("FUNDESK_BASE_URL"), service.WithRequestEditorFn(authorize))
	if err != nil {
		return err
	}
	person, err := newest(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(keepsCents(ctx, c, person), completesACall(ctx, c, person), isRefused(ctx, c, person))
}

// newest returns the newest person, and pages through all of them.
func newest(ctx context.Context, c *service.ClientWithResponses) (person service.Person, err error) {
	listed, first := 0, int32(100)
	for query := (&service.ListPersonsParams{First: &first}); ; {
		page, err := c.ListPersonsWithResponse(ctx, query)
		if err != nil {
			return person, err
		}
		if page.JSON200 == nil || len(page.JSON200.Edges) == 0 {
			return person, fmt.Errorf("list persons: got %s", page.Status())
		}
		if listed == 0 {
			person = page.JSON200.Edges[0].Node
		}
		listed += len(page.JSON200.Edges)
		if !page.JSON200.PageInfo.HasNextPage {
			break
		}
		query.After = page.JSON200.PageInfo.EndCursor
	}
	if listed != 200 || person.CreatedAt.IsZero() {
		return person, fmt.Errorf("list persons: got %d, the newest of %v, want 200", listed, person.CreatedAt)
	}
	return person, nil
}

// keepsCents creates a pledge of an amount that single precision cannot hold.
func keepsCents(ctx context.Context, c *service.ClientWithResponses, person service.Person) error {
	const amount, text = 262144.13, `"donationAmount":262144.13,`
	organization, now := person.OwningOrganization.Uuid, time.Now()
	created, err := c.CreatePledgeWithResponse(ctx, service.CreatePledgeRequest{
		PersonUuid:                 person.Uuid,
		OwningOrganizationUuid:     organization,
		RecruitingOrganizationUuid: organization,
		RecruiterUserUuid:          newUUID(),
		CreatedAt:                  now,
		StartsAt:                   now,
		InitialDonationAmount:      amount,
		InitialDonationInterval:    service.Once,
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil || created.JSON201.DonationAmount != amount {
		return fmt.Errorf("create a pledge: got %s %.200s, want the amount %v", created.Status(), created.Body, amount)
	}
	read, err := c.GetPledgeWithResponse(ctx, created.JSON201.Uuid)
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.DonationAmount != amount || !bytes.Contains(read.Body, []byte(text)) {
		return fmt.Errorf("get the pledge: got %s %.200s, want %s", read.Status(), read.Body, text)
	}
	return nil
}

func completesACall(ctx context.Context, c *service.ClientWithResponses, person service.Person) error {
	id, now, kind := newUUID(), time.Now(), service.HappyCall
	created, err := c.CreateCallWithResponse(
		ctx,
		nil,
		service.CreateCallRequest{Uuid: &id, PersonUuid: person.Uuid, RequestedAt: now, Type: &kind},
	)
	if err != nil {
		return err
	}
	tried, err := c.AddCallAttemptWithResponse(ctx, id, nil, service.AddAttemptRequest{AttemptAt: &now})
	if err != nil {
		return err
	}
	code, rating := "thanked", 7.5
	done, err := c.CompleteCallWithResponse(
		ctx,
		id,
		nil,
		service.CompleteCallRequest{Result: &service.CallResultInput{ResultCode: &code, DonorRetentionRating: &rating}},
	)
	if err != nil {
		return err
	}
	if created.JSON201 == nil || tried.JSON200 == nil || done.JSON200 == nil {
		return fmt.Errorf(
			"work a call: got %s, %s, %s %.200s",
			created.Status(),
			tried.Status(),
			done.Status(),
			done.Body,
		)
	}
	// An account that may not read calls is answered with less.
	if call, err := done.JSON200.AsCall(); err != nil || call.Status != service.CallStatusCompleted ||
		call.AttemptsCount != 1 {
		return fmt.Errorf(
			"work a call: got %s, %s, %s %.200s",
			created.Status(),
			tried.Status(),
			done.Status(),
			done.Body,
		)
	}
	return nil
}

// isRefused reads why a change was refused.
func isRefused(ctx context.Context, c *service.ClientWithResponses, person service.Person) error {
	language := "zz"
	refused, err := c.UpdatePersonWithResponse(ctx, person.Uuid, nil, service.UpdatePersonRequest{Language: &language})
	if err != nil {
		return err
	}
	problem := refused.ApplicationproblemJSON400
	if problem == nil || problem.Errors == nil || len(*problem.Errors) != 1 ||
		*(*problem.Errors)[0].Pointer != "/language" {
		return fmt.Errorf(
			"a language that is none: got %s %.200s, want a refusal that names the field",
			refused.Status(),
			refused.Body,
		)
	}
	return nil
}

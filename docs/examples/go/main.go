// Command day is a day with the service, in Go's standard library.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := day(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// problem is what the service says of a request that it refuses.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Error is the status, and the first field that is wrong.
func (p *problem) Error() string {
	text := fmt.Sprint(p.Status, " ", p.Title)
	if len(p.Errors) > 0 {
		text += " " + p.Errors[0].Pointer + ": " + p.Errors[0].Message
	}
	return text
}

// ask sends one request and reads its answer.
func ask(ctx context.Context, method, path string, body, answer any) error {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, os.Getenv("FUNDESK_BASE_URL")+path, &text)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("FUNDESK_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		refusal := &problem{}
		return errors.Join(json.NewDecoder(response.Body).Decode(refusal), refusal)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// page is one page of a list of persons.
type page struct {
	Edges []struct {
		Node struct {
			UUID string `json:"uuid"`
		} `json:"node"`
	} `json:"edges"`
	PageInfo struct {
		EndCursor   string `json:"endCursor"`
		HasNextPage bool   `json:"hasNextPage"`
	} `json:"pageInfo"`
}

// persons are the uuids of all persons, page by page.
func persons(ctx context.Context) (all []string, err error) {
	query := url.Values{"first": {"100"}}
	for {
		var p page
		if err := ask(ctx, http.MethodGet, "/api/v1/persons?"+query.Encode(), nil, &p); err != nil {
			return nil, err
		}
		for _, edge := range p.Edges {
			all = append(all, edge.Node.UUID)
		}
		if !p.PageInfo.HasNextPage {
			return all, nil
		}
		query.Set("after", p.PageInfo.EndCursor)
	}
}

// newUUID is an identifier of version 4. It is chosen here, so that a creation can be sent
// again when its answer is lost.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // It never fails.
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func day(ctx context.Context) error {
	type object map[string]any
	all, err := persons(ctx)
	if err != nil {
		return err
	}
	fmt.Println(len(all), "persons")

	person, call, now := all[len(all)-1], newUUID(), time.Now().UTC().Format(time.RFC3339)
	create := object{"uuid": call, "personUuid": person, "type": "happy_call", "requestedAt": now}
	if err := ask(ctx, http.MethodPost, "/api/v1/calls", create, nil); err != nil {
		return err
	}
	if err := ask(ctx, http.MethodPut, "/api/v1/calls/"+call+"/actions/add-attempt", object{}, nil); err != nil {
		return err
	}
	var done struct{ Status string }
	result := object{"result": object{"resultCode": "thanked", "donorRetentionRating": 9}}
	if err := ask(ctx, http.MethodPut, "/api/v1/calls/"+call+"/actions/complete", result, &done); err != nil {
		return err
	}
	fmt.Println("call", done.Status)

	err = ask(ctx, http.MethodPut, "/api/v1/persons/"+person+"/actions/update", object{"email": "nobody"}, nil)
	if refusal, ok := errors.AsType[*problem](err); ok {
		fmt.Fprintln(os.Stderr, refusal)
		fmt.Println("refused")
	}
	entry := object{"entityName": "person", "entityUuid": person, "processedAt": now}
	if err := ask(ctx, http.MethodPost, "/api/v1/entity-access/actions/mark-processed", object{"entries": []object{entry}}, nil); err != nil {
		return err
	}
	fmt.Println("marked")
	return nil
}

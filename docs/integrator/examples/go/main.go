// Command day is a night and a day with the service, in Go's standard library.
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

// Error returns the status, and the first field that is wrong.
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

// page is one page of a list; its records are kept as they were sent, every digit.
type page struct {
	Edges []struct {
		Node json.RawMessage `json:"node"`
	} `json:"edges"`
	PageInfo struct {
		EndCursor   string `json:"endCursor"`
		HasNextPage bool   `json:"hasNextPage"`
	} `json:"pageInfo"`
}

type object map[string]any

// write appends the records to a file, and is their uuids.
func (p page) write(file string) (uuids []string, err error) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Sync(), out.Close()) }()
	for _, edge := range p.Edges {
		var record struct{ UUID string }
		if err := json.Unmarshal(edge.Node, &record); err != nil {
			return nil, err
		}
		uuids = append(uuids, record.UUID)
		if _, err := fmt.Fprintf(out, "%s\n", edge.Node); err != nil {
			return nil, err
		}
	}
	return uuids, nil
}

// mark tells the service that persons were retrieved.
func mark(ctx context.Context, persons []string) error {
	if len(persons) == 0 {
		return nil
	}
	entries := make([]object, len(persons))
	for i, person := range persons {
		entries[i] = object{"entityName": "person", "entityUuid": person, "processedAt": time.Now().UTC()}
	}
	return ask(ctx, http.MethodPost, "/api/v1/entity-access/actions/mark-processed", object{"entries": entries}, nil)
}

// pull writes the persons who are new since the last time, and is how many. Each page is written,
// then marked as processed. The time at which this run began is kept when the last page is, less
// what clocks may differ by: a person may come twice, and none is missed.
func pull(ctx context.Context, since, file string) (int, error) {
	began, query := time.Now().UTC().Add(-2*time.Minute), url.Values{"first": {"500"}}
	if last, err := os.ReadFile(since); err == nil {
		query.Set("createdAfter", string(last))
	} else if !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	var count int
	for more := true; more; {
		var p page
		if err := ask(ctx, http.MethodGet, "/api/v1/persons?"+query.Encode(), nil, &p); err != nil {
			return count, err
		}
		persons, err := p.write(file)
		if err != nil {
			return count, err
		}
		if err := mark(ctx, persons); err != nil {
			return count, err
		}
		count += len(persons)
		query.Set("after", p.PageInfo.EndCursor)
		more = p.PageInfo.HasNextPage
	}
	return count, os.WriteFile(since, []byte(began.Format(time.RFC3339)), 0o600)
}

// newUUID returns an identifier of version 4. It is chosen here, so that a creation can be sent
// again when its answer is lost.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // It never fails.
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func day(ctx context.Context) error {
	count, err := pull(ctx, "since", "persons.ndjson")
	if err != nil {
		return err
	}
	fmt.Println(count, "persons")

	var newest struct {
		Edges []struct{ Node struct{ UUID string } }
	}
	if err := ask(ctx, http.MethodGet, "/api/v1/persons?first=1", nil, &newest); err != nil {
		return err
	}
	person, call, now := newest.Edges[0].Node.UUID, newUUID(), time.Now().UTC()
	create := object{"uuid": call, "personUuid": person, "type": "happy_call", "requestedAt": now}
	if err := ask(ctx, http.MethodPost, "/api/v1/calls", create, nil); err != nil {
		return err
	}
	if err := ask(
		ctx,
		http.MethodPut,
		"/api/v1/calls/"+call+"/actions/add-attempt",
		object{"attemptAt": now},
		nil,
	); err != nil {
		return err
	}
	var done struct{ Status string }
	result := object{"result": object{"resultCode": "thanked", "donorRetentionRating": 9}}
	if err := ask(ctx, http.MethodPut, "/api/v1/calls/"+call+"/actions/complete", result, &done); err != nil {
		return err
	}
	fmt.Println("call", done.Status)

	err = ask(ctx, http.MethodPut, "/api/v1/persons/"+person+"/actions/update", object{"email": "nobody"}, nil)
	refusal, ok := errors.AsType[*problem](err)
	if !ok {
		return err
	}
	fmt.Fprintln(os.Stderr, refusal)
	fmt.Println("refused")
	return nil
}

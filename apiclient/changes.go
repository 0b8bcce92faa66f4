package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// ErrLostPosition is in the chain of the error of a page whose position the service does not know any more.
var ErrLostPosition = errors.New("changes after the position may be missing")

// ChangePage is a page of the feed of changes.
type ChangePage struct {
	Records []Record[apitype.Change] // In the order of the changes.
	Next    string                   // The position of the next page.
	HasMore bool                     // The next page may have changes already.
	Until   apitype.Time             // The page shows all changes before it. Zero if that is unknown.
}

// ListChanges reads a page of the feed of changes. If the service has no feed, the error is of kind rejected. If it
// does not know the position any more, the error is of kind unavailable, with ErrLostPosition in its chain.
// GET /fundesk/v1/changes
func (c *Client) ListChanges(ctx context.Context, o apitype.ChangeListOptions) (ChangePage, error) {
	if err := c.required(ctx, apitype.ExtensionChanges, "feed of changes"); err != nil {
		return ChangePage{}, err
	}
	answer, err := c.read(ctx, request{path: extensionsPath + "/changes", query: o.Query(), isPage: true})
	if refused := asError(err); refused != nil && refused.Status == http.StatusGone {
		refused.Kind, refused.Err = KindUnavailable, ErrLostPosition
	}
	if err != nil {
		return ChangePage{}, err
	}
	if err := checkObject(answer); err != nil {
		return ChangePage{}, err
	}
	var said struct {
		Changes []json.RawMessage `json:"changes"`
		Next    string            `json:"next"`
		HasMore bool              `json:"hasMore"`
	}
	err = jsonv2.Unmarshal(answer.Body, &said, tolerant)
	isStuck := said.Next == o.After && (said.HasMore || len(said.Changes) > 0)
	if err != nil || said.Next == "" || isStuck {
		return ChangePage{}, broken(answer, "the changes lead to no next page")
	}
	return c.changePage(answer, said.Changes, said.Next, said.HasMore), nil
}

func (c *Client) changePage(answer *Response, changes []json.RawMessage, next string, hasMore bool) ChangePage {
	page := ChangePage{Next: next, HasMore: hasMore, Records: make([]Record[apitype.Change], len(changes))}
	for i, raw := range changes {
		page.Records[i] = Record[apitype.Change]{Raw: raw, omitted: c.options.Omitted}
	}
	if !hasMore {
		page.Until, _ = apitype.ParseTime(answer.Header.Get(apitype.SettledHeader)) // Zero if it is missing.
	} else if len(changes) > 0 {
		last, _ := page.Records[len(changes)-1].Decode() // An unreadable one has no time.
		page.Until = last.Time
	}
	return page
}

package apiclient

import (
	"net/http"
	"time"
)

// Behind is how far the service's clock was behind Options.Now when it last answered,
// to the second; zero where it was not, or did not tell. The times that a list is
// filtered by are the service's.
func (c *Client) Behind() time.Duration { return time.Duration(c.behind.Load()) }

// noteClock reads the service's own time from an answer to a request of a time of ours.
func (c *Client) noteClock(answer http.Header, sent time.Time) {
	if at, err := http.ParseTime(answer.Get("Date")); err == nil {
		c.behind.Store(int64(max(0, sent.Sub(at))))
	}
}

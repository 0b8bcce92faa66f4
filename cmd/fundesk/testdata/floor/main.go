// Command floor is the least that a client of the interface can do, as the yardstick of
// what fundesk does: it asks for a list, page after page, and passes the records on.
//
//	floor get URL      one answer to stdout
//	floor pass URL     the records as they came, checked by the JSON tokenizer
//	floor typed URL    the records decoded, and a line of some of their fields
//	floor create URL FILE N   each line of the file created or updated, N at a time
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

func main() {
	err := error(nil)
	if os.Args[1] == "create" {
		err = create(os.Args[2], os.Args[3], os.Args[4])
	} else {
		err = run(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(mode, list string) error {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	var body bytes.Buffer // Used for one page after the other.
	if mode == "get" {
		if err := get(list, &body); err != nil {
			return err
		}
		_, _ = body.WriteTo(out)
		return out.Flush()
	}
	use := func(node jsontext.Value) error {
		if _, err := out.Write(node); err != nil {
			return err
		}
		return out.WriteByte('\n')
	}
	if mode == "typed" {
		use = func(node jsontext.Value) error {
			var call apitype.Call
			if err := json.Unmarshal(node, &call); err != nil {
				return err
			}
			_, err := fmt.Fprintf(out, "%s,%s,%s\n", call.UUID, call.Status, call.RequestedAt)
			return err
		}
	}
	query := "?first=500"
	for more := true; more; {
		if err := get(list+query, &body); err != nil {
			return err
		}
		after, next, err := page(body.Bytes(), use)
		if err != nil {
			return err
		}
		more = next
		query = "?first=500&after=" + url.QueryEscape(after)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// get reads one answer into body.
func get(address string, body *bytes.Buffer) error {
	request, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("FUNDESK_TOKEN"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", answer.Status)
	}
	body.Reset()
	_, err = body.ReadFrom(answer.Body)
	return err
}

// page hands every node of a page to use, and returns the cursor of the next page.
func page(body []byte, use func(jsontext.Value) error) (end string, more bool, err error) {
	var envelope struct {
		PageInfo struct {
			EndCursor   string
			HasNextPage bool
		}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	var name string
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return envelope.PageInfo.EndCursor, envelope.PageInfo.HasNextPage, nil
		} else if err != nil {
			return "", false, err
		}
		if token.Kind() != '"' {
			continue
		}
		switch name = token.String(); name {
		case "pageInfo":
			err = json.UnmarshalDecode(d, &envelope.PageInfo, json.MatchCaseInsensitiveNames(true))
		case "node":
			var node jsontext.Value
			node, err = d.ReadValue()
			if err == nil {
				err = use(node)
			}
		}
		if err != nil {
			return "", false, err
		}
	}
}

package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// trait is one point that the interface leaves open: what this service does, and what
// fundesk does about it where that is not what its own service does.
type trait struct {
	Point string `json:"point"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`
	Does  string `json:"does"`
}

// showTraits reads a few records and says how the service differs from what fundesk expects. It changes nothing.
func showTraits(s *cli.Session, cmd *cobra.Command) error {
	ctx := cmd.Context()
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	var traits []trait
	for _, noun := range cli.ListNouns {
		found, err := listTraits(ctx, client, noun)
		if err != nil {
			return err
		}
		traits = append(traits, found...)
	}
	refusal, err := client.Do(ctx, http.MethodGet, "/api/v1/calls/"+apitype.NewUUID().String(), nil, nil, nil)
	if err != nil {
		return err
	}
	queue := trait{"queue", true, "calls are leased", ""}
	if has, err := client.Has(ctx, apitype.ExtensionQueue); err != nil || !has {
		queue = trait{
			"queue",
			false,
			"none",
			"the Desk spreads agents over the oldest calls; fundesk queue ends with exit code 7",
		}
	}
	return cli.ShowList(s, "", []render.Column[trait]{
		{Name: "point", Default: true, Value: func(t trait) string { return t.Point }},
		render.OutcomeColumn("differs", func(t trait) bool { return t.OK }),
		{Name: "found", Default: true, Flexible: true, Value: func(t trait) string { return t.Found }},
		{Name: "does", Default: true, Flexible: true, Value: func(t trait) string { return t.Does }},
	}, append(traits, refusalTrait(refusal), queue))
}

// sampleSize is how many records a list is asked for: few, and more than a service needs
// to show how it pages.
const sampleSize = 2

// listTraits are those of one list and of its first record.
func listTraits(ctx context.Context, client *apiclient.Client, noun string) ([]trait, error) {
	path := "/api/v1/" + noun + "s"
	answer, err := client.Do(ctx, http.MethodGet, path, url.Values{"first": {fmt.Sprint(sampleSize)}}, nil, nil)
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return []trait{
			{noun + " list", false, fmt.Sprintf("status %d", answer.Status), "lists of " + noun + "s end with the error"},
		}, nil
	}
	var list any
	if apitype.DecodeExact(answer.Body, &list) != nil {
		return []trait{{noun + " list", false, "no JSON", "lists of " + noun + "s end with exit code 8"}}, nil
	}
	shape, nodes := shapeTrait(noun, list)
	traits := []trait{shape}
	if object, ok := list.(map[string]any); ok {
		traits = append(traits, pagingTrait(noun, object))
	}
	if len(nodes) > sampleSize {
		traits = append(
			traits,
			trait{
				noun + " pages",
				false,
				fmt.Sprintf("%d records where %d were asked for", len(nodes), sampleSize),
				"takes them: a list longer than asked for is whole",
			},
		)
	}
	if len(nodes) == 0 {
		return traits, nil
	}
	record, _ := nodes[0].(map[string]any)
	return append(traits, timeTrait(noun, record), fieldsTrait(noun, record)), nil
}

// shapeTrait is the shape of a list, and its records. Spec gap: L9.
func shapeTrait(noun string, list any) (trait, []any) {
	point := noun + " list"
	if array, ok := list.([]any); ok {
		return trait{
			point, false, "a bare array",
			"takes it for whole when it is longer than asked for; else exit code 8, until unpaged of the profile names " + noun,
		}, array
	}
	object, _ := list.(map[string]any)
	if edges, ok := object["edges"].([]any); ok {
		nodes := make([]any, len(edges))
		for i, edge := range edges {
			member, _ := edge.(map[string]any)
			nodes[i] = member["node"]
		}
		return trait{point, true, "the pagination envelope", ""}, nodes
	}
	for _, member := range object {
		if array, ok := member.([]any); ok {
			return trait{point, false, "an object with one array", "reads that; it may be whole or cut, as a bare array"}, array
		}
	}
	return trait{point, false, "no list of records", "ends with exit code 8"}, nil
}

// pagingTrait is what an envelope says of other pages. Spec gap: L3.
func pagingTrait(noun string, object map[string]any) trait {
	point := noun + " pages"
	info, _ := object["pageInfo"].(map[string]any)
	_, next := info["hasNextPage"].(bool)
	_, previous := info["hasPreviousPage"].(bool)
	_, cursor := info["endCursor"].(string)
	switch {
	case next && previous && (cursor || info["hasNextPage"] == false):
		return trait{point, true, "flags and cursors", ""}
	case cursor:
		return trait{point, false, "cursors without flags", "reads on while full pages come"}
	case next:
		return trait{point, false, "flags without a cursor in pageInfo", "takes the cursor of the last edge"}
	default:
		return trait{
			point,
			false,
			"neither flags nor cursors",
			"ends with exit code 8 where nothing tells whether that is all",
		}
	}
}

// timeTrait is how times are written. Spec gap: R5.
func timeTrait(noun string, record map[string]any) trait {
	point := noun + " times"
	for _, name := range []string{"createdAt", "requestedAt", "lastUpdatedAt"} {
		text, ok := record[name].(string)
		if !ok {
			continue
		}
		at, err := apitype.ParseTime(text)
		switch {
		case err != nil:
			return trait{
				point,
				false,
				name + " is no ISO 8601 time",
				"a record with it cannot be shown as a table; -o json shows it as it was sent",
			}
		case at.String() == text:
			return trait{point, true, "UTC with milliseconds", ""}
		case at.Time.Equal(at.Truncate(time.Second)):
			return trait{
				point,
				false,
				"another form of ISO 8601, or whole seconds",
				"reads it; an own attempt is recognised by its second",
			}
		default:
			return trait{point, false, "another form of ISO 8601", "reads it, and shows UTC with milliseconds"}
		}
	}
	return trait{point, false, "no time", "shows none"}
}

// fieldsTrait is which fields a record has that the interface does not, or lacks.
func fieldsTrait(noun string, record map[string]any) trait {
	var known map[string]any
	model := map[string]any{"person": apitype.Person{}, "call": apitype.Call{}, "pledge": apitype.Pledge{}}[noun]
	if text, err := json.Marshal(model); err != nil || json.Unmarshal(text, &known) != nil {
		return trait{noun + " fields", true, "", ""}
	}
	var missing []string
	for name := range known {
		if _, there := record[name]; !there {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return trait{noun + " fields", true, "all that the interface requires", ""}
	}
	slices.Sort(missing)
	return trait{noun + " fields", false, "without " + strings.Join(missing, ", "), "shows them empty"}
}

// refusalTrait is how a record that is not there is refused. Spec gaps: R1, R2.
func refusalTrait(answer *apiclient.Response) trait {
	const point = "refusals"
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	switch {
	case answer.Status != http.StatusNotFound:
		return trait{
			point,
			false,
			fmt.Sprintf("status %d for a record that is not there", answer.Status),
			"tells it as it is: only 404 is exit code 3",
		}
	case kind == "application/problem+json":
		return trait{point, true, "problem+json", ""}
	case json.Valid(answer.Body) && len(bytes.TrimSpace(answer.Body)) > 0:
		return trait{point, false, "other JSON", "shows the first message that it finds"}
	default:
		return trait{point, false, "text", "shows the status and the first sentence"}
	}
}

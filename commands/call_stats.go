package commands

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// statRow is one number of the statistics.
type statRow struct {
	Group string `json:"group"`
	Value string `json:"value"`
	Count int    `json:"count"`
}

func callStats(s *session) *cobra.Command {
	filters := &callFilters{}
	cmd := &cobra.Command{
		Use: "stats", Short: "Count calls by status, type, attempts and result", Args: noArgs,
		Long: "Read all calls that pass the filters and count them. The service counts nothing itself: every call is\nretrieved.",
		Example: "  fundesk call stats --requested-after 30d\n" +
			"  fundesk call stats -o json --jq '.[] | select(.group == \"result\")'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := filters.check(); err != nil {
				return err
			}
			filters.leaveToService(cmd.Context(), s)
			return s.stats(cmd, filters)
		},
	}
	filters.register(s, cmd)
	s.unpagedFlag(cmd)
	return cmd
}

// stats counts every call that passes.
func (s *session) stats(cmd *cobra.Command, filters *callFilters) error {
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	counts := map[string]map[string]int{}
	add := func(group, value string) {
		if counts[group] == nil {
			counts[group] = map[string]int{}
		}
		counts[group][value]++
	}
	passes := filters.passes()
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Fallback: defaultPageSize, Reuse: true}
	for record, err := range collectingSooner(client.Calls.All(cmd.Context(), filters.options, walk)) {
		if err != nil {
			return aboutList(err)
		}
		call, err := record.Decode()
		if err != nil {
			return err
		}
		if passes == nil || passes(call) {
			countCall(call, add)
		}
	}
	rows := []statRow{}
	for _, group := range []string{"total", "status", "type", "requested by type", "attempts", "result", "rating"} {
		for _, value := range slices.Sorted(maps.Keys(counts[group])) {
			rows = append(rows, statRow{group, value, counts[group][value]})
		}
	}
	return showList(s, "", []render.Column[statRow]{
		{Name: "group", Default: true, Value: func(r statRow) string { return r.Group }},
		{Name: "value", Default: true, Flexible: true, Value: func(r statRow) string { return r.Value }},
		{Name: "count", Default: true, Right: true, Value: func(r statRow) string { return strconv.Itoa(r.Count) }},
	}, rows)
}

// countCall counts one call in all groups.
func countCall(call apitype.Call, add func(group, value string)) {
	add("total", "calls")
	add("status", string(call.Status))
	add("type", string(call.Type))
	if call.Status == apitype.CallRequested {
		add("requested by type", string(call.Type))
	}
	add("attempts", strconv.Itoa(call.AttemptsCount))
	result := call.Result.Value()
	if result.ResultCode != nil {
		add("result", *result.ResultCode)
	}
	if result.DonorRetentionRating != nil {
		add("rating", result.DonorRetentionRating.String())
	}
}

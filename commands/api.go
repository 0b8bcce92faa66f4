package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/read"
	"fundesk/render"
)

// apiFlags are the flags of api.
type apiFlags struct {
	fields   []string
	texts    []string // Fields with text values only.
	headers  []string
	input    string
	paginate bool
	include  bool
}

// methods are the allowed methods of a request.
var methods = []string{
	http.MethodGet,
	http.MethodHead,
	http.MethodPost,
	http.MethodPut,
	http.MethodPatch,
	http.MethodDelete,
	http.MethodOptions,
}

func apiCommand(s *cli.Session) *cobra.Command {
	a := &apiFlags{}
	cmd := &cobra.Command{
		Use: "api [METHOD] PATH",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && slices.Contains(methods, strings.ToUpper(args[0])) {
				return cli.WithHint(cli.UsageError("missing PATH"), "usage: "+cmd.UseLine())
			}
			return cli.AtMost(2)(cmd, args)
		},
		Long: "Send any API request with the token of the profile, and print the answer. Fields go into the\n" +
			"query of a GET, else into a JSON body. Without a method it is GET, or POST if there is a body.\n" +
			"Nothing is retried. Your token is sent only to this service.",
		Example: "  fundesk api GET /api/v1/calls --field first=5\n" +
			"  fundesk api PUT /api/v1/calls/5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10/actions/cancel\n" +
			"  fundesk api /api/v1/persons --paginate -o ndjson\n" +
			"  fundesk api /api/v1/calls -i -H 'X-Request-Id: night-42'",
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, toComplete string,
		) ([]string, cobra.ShellCompDirective) {
			paths := []string{"/api/v1/persons", "/api/v1/calls", "/api/v1/pledges"}
			if len(args) == 0 {
				return append(slices.Clone(methods), paths...), cobra.ShellCompDirectiveNoFileComp
			}
			return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(s, cmd, args) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(
		&a.fields,
		"field",
		"F",
		nil,
		"field k=v; true, false, null and numbers keep their type, a.b is nested",
	)
	f.StringArrayVarP(&a.texts, "raw-field", "f", nil, "field k=v whose value is always text")
	f.StringArrayVarP(&a.headers, "header", "H", nil, "header 'Name: value' of the request (repeatable)")
	f.BoolVarP(&a.include, "include", "i", false, "also print status and headers")
	f.StringVar(&a.input, "input", "", "body from a file, - for stdin")
	f.BoolVar(&a.paginate, "paginate", false, "follow the pages of a list and print its records")
	cli.YesFlag(cmd)
	s.UnpagedFlag(cmd)
	return cmd
}

func (a *apiFlags) run(s *cli.Session, cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		args = []string{http.MethodGet, args[0]}
		if len(a.fields)+len(a.texts) > 0 || a.input != "" {
			args[0] = http.MethodPost
		}
	}
	method := strings.ToUpper(args[0])
	if !slices.Contains(methods, method) {
		return cli.WithHint(cli.UsageError(cli.Quote(args[0])+" is not a method"), "usage: "+cmd.UseLine())
	}
	path, query, err := splitPath(args[1])
	if err != nil {
		return err
	}
	options, err := s.Output()
	if err != nil {
		return err
	}
	isRead := method == http.MethodGet || method == http.MethodHead
	body, err := a.body(cmd.Context(), s, isRead, query)
	if err != nil {
		return err
	}
	if options.Format == render.ID && !a.paginate && options.Query == nil {
		return cli.UsageError("-o id needs --paginate")
	}
	header, err := a.header()
	if err != nil {
		return err
	}
	if a.paginate && method != http.MethodGet {
		return cli.UsageError("--paginate needs GET")
	}
	if a.paginate && (a.include || len(a.headers) > 0) {
		return cli.UsageError("--paginate cannot be combined with --include or --header")
	}
	if a.include && (options.Query != nil || s.Flags.Output != "") {
		return cli.UsageError("--include cannot be combined with -o or --jq: headers are not JSON")
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	if a.paginate {
		return a.walk(s, cmd, client, path, query, options)
	}
	answer, err := client.Do(cmd.Context(), method, path, query, body, header)
	if err == nil && a.include {
		if err := printHead(s, options, answer); err != nil {
			return err
		}
	}
	if err == nil {
		err = answer.Err()
	}
	if err != nil {
		return cli.OutcomeOf(isRead, err)
	}
	return cli.PrintAnswer(s, options, answer)
}

// header returns the headers of the request. The profile's token goes to the profile's service only.
func (a *apiFlags) header() (http.Header, error) {
	header := http.Header{}
	for _, text := range a.headers {
		name, value, ok := strings.Cut(text, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		hasName := ok && name != "" && !strings.ContainsAny(name, " \t\r\n")
		if !hasName || strings.ContainsAny(value, "\r\n") {
			return nil, cli.UsageError("--header is not of the form 'Name: value'")
		}
		switch name {
		case "Authorization", "Host", "Content-Length":
			return nil, cli.WithHint(
				cli.UsageError("--header "+name+" is set by fundesk"),
				"the token of the profile is sent; another one: FUNDESK_TOKEN",
			)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, nil
}

func printHead(s *cli.Session, options render.Options, answer *apiclient.Response) error {
	var text strings.Builder
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\n", answer.Status, http.StatusText(answer.Status))
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		for _, value := range answer.Header[name] {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	out := text.String()
	if options.Terminal {
		out = render.CleanLines(out)
	}
	_, err := fmt.Fprintln(s.App.Out, out)
	return err
}

// splitPath takes the query off a path. A whole URL is refused: the token goes to the
// profile's service only.
func splitPath(text string) (string, url.Values, error) {
	parsed, err := url.Parse(text)
	isPath := err == nil && parsed.Scheme == "" && parsed.Host == ""
	if !isPath || parsed.Fragment != "" {
		return "", nil, cli.UsageError("the path " + cli.Quote(cli.ShownURL(text)) + " is not of the form /api/v1/…")
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return "", nil, cli.UsageError("the query of the path is malformed")
	}
	return "/" + strings.TrimLeft(parsed.EscapedPath(), "/"), query, nil
}

// body returns the body of the request. The fields of a read go into its query.
func (a *apiFlags) body(ctx context.Context, s *cli.Session, isRead bool, query url.Values) ([]byte, error) {
	if a.input != "" {
		if len(a.fields)+len(a.texts) > 0 {
			return nil, cli.UsageError("fields and --input cannot be combined")
		}
		return s.ReadInput(ctx, a.input)
	}
	object := map[string]any{}
	for i, field := range slices.Concat(a.fields, a.texts) {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return nil, cli.UsageError("--field " + cli.Quote(name) + " is not KEY=VALUE")
		}
		if !utf8.ValidString(field) {
			return nil, cli.UsageError("--field " + cli.Quote(name) + " " + change.ErrUTF8.Error())
		}
		if isRead {
			query.Add(name, value)
			continue
		}
		if i < len(a.fields) {
			change.SetPath(object, name, fieldValueOf(value))
		} else {
			change.SetPath(object, name, value)
		}
	}
	if isRead || len(object) == 0 {
		return nil, nil
	}
	return json.Marshal(object)
}

// fieldValueOf returns the JSON value of a field: a word, a number, or text.
func fieldValueOf(text string) any {
	switch jsontext.Value(text).Kind() {
	case 't', 'f', 'n', '0', '{', '[':
		var value any
		if jsontext.Value(text).IsValid() && apitype.DecodeExact([]byte(text), &value) == nil {
			return value
		}
	}
	return text
}

func (a *apiFlags) walk(
	s *cli.Session,
	cmd *cobra.Command,
	client *apiclient.Client,
	path string,
	query url.Values,
	options render.Options,
) error {
	if !options.Format.IsJSON() && options.Format != render.ID && options.Query == nil {
		options.Format = render.JSON
	}
	list, err := render.NewList[json.RawMessage](s.App.Out, nil, options)
	if err != nil {
		return err
	}
	all := apiclient.AllOptions{PageSize: read.DefaultPageSize, Reuse: true}
	if size := query.Get("first"); size != "" {
		all.PageSize, err = strconv.Atoi(size)
		if err != nil || all.PageSize <= 0 {
			return cli.UsageError("first must be a whole number greater than 0")
		}
	}
	var flushed error
	all.Yielded = func() { flushed = list.Flush() }
	for record, err := range client.Walk(cmd.Context(), path, query, all) {
		if err == nil {
			err = flushed
		}
		if err == nil {
			err = list.Add(record.Raw, record.Decode)
		}
		if err != nil {
			return read.EndList(list, err)
		}
	}
	return list.Close()
}

package commands

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"fundesk/commands/cli"
)

// Commands known from other programs are answered with this program's word.
func TestSlipsAreAnswered(t *testing.T) {
	t.Parallel()
	l := lineAt(t, nowhere, "t")
	for args, want := range map[string]string{
		"persons --limit 1":              `a verb is missing before "--limit"`,
		"queue --at 2h":                  "verbs: agents,",
		"call ls -o id":                  "did you mean list?",
		"calls show x -o id":             "did you mean get?",
		"call delete x":                  "did you mean cancel?",
		"person delete x":                "did you mean erase?",
		"pledge cancel x":                "did you mean action?",
		"pledge activate x":              "did you mean action?",
		"use-context work":               "did you mean fundesk profile use NAME?",
		"person get Anna":                "hint: find the UUID: fundesk person list --search NAME -o id",
		"call new":                       "did you mean create?",
		"profile ls":                     "did you mean list?",
		"auth whoami":                    "did you mean status?",
		"login":                          "did you mean fundesk auth login?",
		"list -o json":                   "did you mean fundesk call list?",
		"call list --format json":        "did you mean --output?",
		"call list --json":               "did you mean --output json?",
		"call list -n 1":                 "did you mean --limit?",
		"call list -L 1":                 "did you mean --limit?",
		"person list --since 1d":         "did you mean --created-after?",
		"person create -f x.json":        "did you mean --file?",
		"call attempt " + testID + " -y": "did you mean --yes?",
		"person update " + testID + " --email= --yes":               "hint: --clear email ",
		"person create --first-name A":                              "--owning-organization is required; --recruiting-organization is required",
		"person create --last-name A":                               "hint: add --owning-organization UUID; add --recruiting-organization UUID",
		"call complete " + testID + " --rating ten --result-code x": `--rating must be a number, not "ten"`,
	} {
		l.try(t, args).Ends(2, want).PrintsOnly("")
	}
	l.try(t, "person create --first-name A").Hides("owningOrganizationUuid")
	for _, command := range cli.CommandsFor {
		l.try(t, "", append(strings.Fields(command), "--help")...).Hides("unknown")
	}
}

// brokenLists are services with lists that end too early, or never. page counts from 0.
var brokenLists = map[string]func(w http.ResponseWriter, r *http.Request, page int){
	"a page that fails": func(w http.ResponseWriter, r *http.Request, page int) {
		if page > 0 {
			status(500, "application/json", `{"detail":"no"}`)(w, r)
			return
		}
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"a page that is refused": func(w http.ResponseWriter, r *http.Request, page int) {
		if page > 0 {
			status(302, "text/html", "")(w, r)
			return
		}
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"a cursor that stands still": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"cursors in a circle": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page%3)+`"}`))
	},
	"the same page for ever": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(0, `{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page)+`"}`))
	},
	"empty pages for ever": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, `{"pageInfo":{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page)+`"},"edges":[]}`)
	},
	"another page without a cursor": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, strings.ReplaceAll(onePage(page, `{"hasNextPage":true}`), `"cursor"`, `"place"`))
	},
	"a body that is cut": func(w http.ResponseWriter, _ *http.Request, page int) {
		text := onePage(page, `{"hasNextPage":`+strconv.FormatBool(page == 0)+`,"endCursor":"a"}`)
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if page > 0 {
			text = text[:len(text)/2]
		}
		io.WriteString(w, text)
	},
	"a body that is cut and says it is whole": func(w http.ResponseWriter, _ *http.Request, page int) {
		text := onePage(page, `{"hasNextPage":`+strconv.FormatBool(page == 0)+`,"endCursor":"a"}`)
		if page > 0 {
			text = text[:len(text)-9]
		}
		io.WriteString(w, text)
	},
	"another kind of answer": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, []string{
			onePage(page, `{"hasNextPage":true,"endCursor":"a"}`), `{"edges":7}`, `{}`, `"text"`,
			`7`,
		}[min(page, 4)])
	},
}

package commands

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// A request goes out as it is written: fields into the query of a read and into the body of
// anything else, and without a method it is a read unless it has a body.
func TestRequestAsWritten(t *testing.T) {
	t.Parallel()
	body := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(body, []byte(`{"from":"a file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		want string
	}{
		{"/x", "GET /x "},
		{"get /x?a=1", "GET /x?a=1 "},
		{"GET /x -F first=5 -f q=a=b", "GET /x?first=5&q=a%3Db "},
		{"HEAD /x -F first=5", "HEAD /x?first=5 "},
		{"PUT /x", "PUT /x "},
		{"/x -F a=1", `POST /x {"a":1}`},
		{"/x -f a=1", `POST /x {"a":"1"}`},
		{
			"PATCH /x -F a=1 -F b.c=true -F e=null -F f=x -F g= -f d=2",
			`PATCH /x {"a":1,"b":{"c":true},"d":"2","e":null,"f":"x","g":""}`,
		},
		{"/x --input " + body, `POST /x {"from":"a file"}`},
		{"DELETE /x --input " + body, `DELETE /x {"from":"a file"}`},
	} {
		var asked []string
		tryAgainst(t, func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(data))
			status(200, "application/json", `{}`)(w, r)
		}, "api", servicetest.Words(test.args)...).Ends(0)
		servicetest.Same(t, "requests", []string{test.want}, asked)
	}
}

// What cannot be asked so is exit 2, and nothing is sent.
func TestRequestThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"BREW /x", `"BREW" is not a method`},
		{"/x --input - -F a=1", "fields and --input cannot be combined"},
		{"/x --input - -f a=1", "fields and --input cannot be combined"},
		{"/x -F novalue", `--field "novalue" is not KEY=VALUE`},
		{"/x -f =1", `--field "" is not KEY=VALUE`},
		{"/x -F a=\xff", "UTF-8"},
		{"/x -o id", "-o id needs --paginate"},
		{"POST /x --paginate", "--paginate needs GET"},
		{"/x --paginate -i", "--paginate cannot be combined with --include or --header"},
		{"/x --paginate -H A:b", "--paginate cannot be combined with --include or --header"},
		{"/x -i -o json", "--include cannot be combined with -o or --jq"},
		{"/x -i --jq .", "--include cannot be combined with -o or --jq"},
		{"https://elsewhere.example/x", "path"},
		{"/x#part", "path"},
	} {
		tryAgainst(t, func(http.ResponseWriter, *http.Request) { t.Errorf("%s: a request was sent", test.line) },
			"api "+test.line).Ends(2, test.want)
	}
}

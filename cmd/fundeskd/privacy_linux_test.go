package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// canaries are values that belong into the database and into answers, and nowhere else.
var canaries = map[string]string{
	"IBAN": "NL13TEST0123456789", "social security number": "918273645", "name": "Kanarievogel",
	"notes": "prefers-to-be-called-after-choir", "email": "canary@kooi.example", "phone": "+31699988877",
	"consumer": "0f0e0d0c-0b0a-4908-8706-050403020100", "reference": "REF-SINGS-77",
}

// TestPersonalDataStaysInTheDatabase has a whole conversation with the program, right and wrong requests. It looks for
// its words in the log, metrics, temporary files and in what other users see of the process.
// Promise K6: of a token its times are kept, and not the token.
// Promise K10: the metrics have no identifier of a record.
func TestPersonalDataStaysInTheDatabase(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			e := newFileEnvironment(t)
			temporary := t.TempDir()
			var organization, account, weak struct{ UUID, Token string }
			e.must(&organization, "organization add --name A --abbreviation A")
			e.must(&account, "account add a --all-organizations --external-source crm")
			e.must(&weak, "account add b --all-organizations --permission calls:read")
			command := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--log-format",
				format)
			command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE=",
				"TMPDIR="+temporary)
			var log lockedBuffer
			command.Stderr = &log
			out, err := command.StdoutPipe()
			servicetest.Check(t, err)
			servicetest.Check(t, command.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			servicetest.Check(t, err)
			url := strings.TrimSpace(line)
			statuses := converse(t, url, organization.UUID, account.Token, weak.Token)
			for _, want := range []int{200, 201, 204, 400, 401, 403, 404, 405, 409, 413} {
				if statuses[want] == 0 {
					t.Errorf("got %v, want an answer %d too", statuses, want)
				}
			}
			places := map[string]string{}
			_, places["the metrics"] = get(t, http.DefaultClient, url+"/metrics", "")
			for _, name := range []string{"cmdline", "environ", "status", "maps"} {
				data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", command.Process.Pid, name))
				servicetest.Check(t, err)
				places["/proc/PID/"+name] = string(data)
			}
			servicetest.Check(t, command.Process.Signal(os.Interrupt))
			servicetest.Report(t, command.Wait())
			places["the log"] = log.String()
			readAll(t, temporary, places)
			said := map[string]string{
				"token":             account.Token,
				"token's signature": account.Token[strings.LastIndex(account.Token, ".")+1:],
			}
			maps.Copy(said, canaries)
			for place, text := range places {
				for name, value := range said {
					if strings.Contains(text, value) {
						t.Errorf("%s: the %s is there", place, name)
					}
				}
			}
			if !strings.Contains(places["the log"], "/api/v1/persons/{uuid}/actions/update") {
				t.Errorf("got the log %s, want a line for each request", places["the log"])
			}
			kept := map[string]string{}
			readAll(t, e.folder, kept)
			for name, value := range canaries {
				for file, text := range kept {
					if got := holds(text, value); got != strings.HasSuffix(file, "fundeskd.db") {
						t.Errorf("the %s in %s: got %v, want it in the database and nowhere else", name, file, got)
					}
				}
			}
			for file, text := range kept {
				if strings.Contains(text, account.Token) {
					t.Errorf("%s holds the token", file)
				}
			}
		})
	}
}

// holds reports whether a file has a value; identifiers may be kept as their bytes.
func holds(text, value string) bool {
	id, err := apitype.ParseUUID(value)
	return strings.Contains(text, value) || (err == nil && strings.Contains(text, string(id[:])))
}

// readAll reads every file below a folder.
func readAll(t *testing.T, folder string, into map[string]string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		into[path] = string(data)
		return err
	})
	servicetest.Check(t, err)
}

// converse sends every canary in every way, and counts the answers.
func converse(t *testing.T, url, organization, token, weak string) map[int]int {
	t.Helper()
	statuses := map[int]int{}
	say := func(token, method, path, body string) {
		t.Helper()
		status, _ := send(t, method, url+path, token, body)
		statuses[status]++
	}
	const person, call = "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c04"
	c := canaries
	fields := fmt.Sprintf(`"iban":%q,"socialSecurityNumber":%q,"email":%q,"phoneNumber":%q,"name":{"lastName":%q}`,
		c["IBAN"], c["social security number"], c["email"], c["phone"], c["name"])
	create := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,%s}`,
		person, organization, organization, fields)
	say(token, "POST", "/api/v1/persons", create)
	say(token, "POST", "/api/v1/persons", create)
	say(weak, "POST", "/api/v1/persons", create)
	say("not."+c["name"]+".a-token", "POST", "/api/v1/persons", create)
	say(token, "POST", "/api/v1/persons", strings.Replace(create, `"iban":"`, `"iban":"XX`, 1))
	say(token, "POST", "/api/v1/persons", create[:len(create)-3])
	say(token, "POST", "/api/v1/persons", `{"`+c["name"]+`":"`+c["IBAN"]+`"}`)
	say(token, "POST", "/api/v1/persons", `{"iban":"`+strings.Repeat(c["IBAN"], 70_000)+`"}`)
	say(token, "DELETE", "/api/v1/persons", create)
	say(token, "GET", "/api/v1/persons?iban="+c["IBAN"], "")
	say(weak, "GET", "/api/v1/persons?iban="+c["IBAN"], "")
	say(token, "GET", "/api/v1/persons?ibn="+c["IBAN"]+"&token="+token, "")
	say(token, "GET", "/api/v1/persons/"+c["name"], "")
	say(token, "GET", "/"+c["name"]+"/"+c["IBAN"], "")
	say(token, "GET", "/api/v1/persons?after="+c["name"], "")
	say(token, "PUT", "/api/v1/persons/"+person+"/actions/update", `{`+fields+`}`)
	say(token, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"gender":"`+c["name"]+`"}`)
	say(
		token,
		"POST",
		"/api/v1/calls",
		fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"requestedAt":"2026-11-20","notes":%q,"externalMetadata":{"applicationName":"d","referenceId":%q}}`, call, person, c["notes"], c["reference"]),
	)
	say(token, "GET", "/api/v1/calls?externalApplicationName=d&externalReferenceId="+c["reference"], "")
	say(token, "PUT", "/api/v1/calls/"+call+"/actions/complete", `{"result":{"notes":"`+c["notes"]+`"}}`)
	say(token, "PUT", "/api/v1/calls/"+call+"/actions/complete",
		`{"result":{"notes":"`+c["notes"]+`","resultCode":"\u0001`+c["name"]+`"}}`)
	mark := `{"entries":[{"entityName":"person","entityUuid":"` + person +
		`","processedAt":"2026-11-20","externalSourceName":"crm","consumerIdentifier":"` + c["consumer"] + `"}]}`
	say(token, "POST", "/api/v1/entity-access/actions/mark-processed", mark)
	say(token, "POST", "/api/v1/entity-access/actions/mark-processed",
		strings.Replace(mark, `"crm"`, `"`+c["name"]+`"`, 1))
	return statuses
}

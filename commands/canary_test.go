package commands

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canaries are values that no other record has.
var canaries = map[string]string{
	"token": "", // Of the account.
	"IBAN":  "NL91ABNA0417164300",
	"SSN":   "738291645",
	"name":  "Canarybird",
	"notes": "sang-a-private-song",
	"phone": "+31687654321",
	"email": "canary@private.example.org",
}

// Personal data and the token are only in the requested output, and in the outbox until it is sent. Stderr, --debug,
// errors and other files have none.
func TestCanaries(t *testing.T) {
	t.Parallel()
	h := plain(t)
	address := serving(t, h.Handler.ServeHTTP)
	c := newFaultCase(t, h)
	home := t.TempDir()
	a := &actedService{T: t, env: homeAt(t, address, c.token, "HOME", home), names: strings.NewReplacer(
		"$PERSON", c.names.Replace("$PERSON"), "$CALL", c.names.Replace("$CALL"), "$PLEDGE", c.names.Replace("$PLEDGE"), "$OWNER", c.owner.String(),
		"$IBAN", canaries["IBAN"], "$SSN", canaries["SSN"], "$NAME", canaries["name"], "$NOTES", canaries["notes"], "$PHONE", canaries["phone"], "$EMAIL", canaries["email"], "$DIR", home)}
	organization := `"owningOrganizationUuid":"$OWNER","recruitingOrganizationUuid":"$OWNER"`
	person := `{` + organization + `,"iban":"$IBAN","socialSecurityNumber":"$SSN","email":"$EMAIL","mobilePhoneNumber":"$PHONE","name":{"lastName":"$NAME"}}` + "\n"
	wrong := `{` + organization + `,"iban":"$IBAN0","socialSecurityNumber":"x$SSN","email":"$EMAIL@","mobilePhoneNumber":"$PHONEx","name":{"lastName":"$NAME","x":"$NOTES"}}` + "\n"
	for _, step := range []struct{ stdin, line string }{
		{person, "person create --file -"},
		{wrong, "person create --file -"},
		{person + wrong, "person import - --yes"},
		{person, "person import - --yes --results $DIR/results"},
		{"$NAME,$IBAN\n$NAME,$IBAN\n", "person import - --yes"},
		{"name.lastName,iban,optIns.email\n$NAME,$IBAN0,$NOTES\n", "person import - --yes"},
		{"$NAME\n", "call attempt - --yes"},
		{"", "person update $PERSON --iban $IBAN --social-security-number $SSN --last-name $NAME"},
		{"", "person update $PERSON --iban $IBAN0"},
		{"", "person update $PERSON --email $EMAIL@"},
		{"", "person update $PERSON --social-security-number x$SSN"},
		{"", "person list --iban $IBAN"},
		{"", "person list --iban $IBAN --after nonsense"},
		{"", "person list --iban $IBAN --base-url http://127.0.0.1:1 --timeout 1s"},
		{"", "call create --person $PERSON --type winback --notes $NOTES"},
		{"", "call complete $CALL --result-code reached --notes $NOTES"},
		{"", "call complete $CALL --result-code reached --notes $NOTES-again"},
		{"", "api GET /api/v1/persons --field iban=$IBAN"},
		{"", "api GET /api/v1/persons?iban=$IBAN&nonsense=$NAME"},
		{"", "api GET http://127.0.0.1:1/api/v1/persons?iban=$IBAN"},
		{"", "api GET http://$NAME:$NOTES@127.0.0.1:1/api/v1/persons#$IBAN"},
		{"", "person list --base-url http://$NAME:$NOTES@127.0.0.1:1/?iban=$IBAN"},
		{"", "auth status --base-url http://127.0.0.1:1/?iban=$IBAN"},
		{
			stdin: `{"name":{"lastName":"$NAME"},"nonsense":"$NOTES"}`,
			line:  "api PUT /api/v1/persons/$PERSON/actions/update --input -",
		},
		{"", "person list --all --include $NOTES"},
		{"", "pull person"},
		{"", "pull call"},
		{"", "call list --include person --jq .[0].person.lastName.x"},
		{"", "call list --include person --jq .[0].person.lastName+1"},
		{"", "call list --include person --jq .[0].person.iban|fromjson"},
		{"", "call list --include person --jq .[0].person.email|tonumber"},
		{"", "call list --include person --jq .[0].person|keys|.a"},
		{"", "call list --include person --jq .[0].person.lastName|test(\"(\")"},
		{"", "auth status"},
		{"", "doctor"},
		{"", "doctor --base-url http://$NAME:$NOTES@127.0.0.1:1/?iban=$IBAN"},
		{"", "__complete call get $CALL"},
	} {
		for _, flags := range []string{" --debug", " --debug -o json", " -o csv"} {
			if strings.HasPrefix(step.line, "__complete") { // They would be what is completed.
				flags = ""
			}
			out, errs, _ := a.runWith(step.stdin, step.line+flags)
			if strings.HasPrefix(step.line, "doctor") { // Its output is not data that was asked for.
				errs += out
			}
			for name, value := range canaries {
				if name == "token" {
					value = c.token
				}
				if strings.Contains(errs, value) {
					t.Errorf("%s%s: got the %s on stderr:\n%s", step.line, flags, name, errs)
				}
			}
		}
	}
	c.searchFiles(home)
}

// searchFiles looks for the canaries in everything that a home folder holds.
func (c *faultCase) searchFiles(home string) {
	c.Helper()
	files := 0
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for name, value := range canaries {
			if name == "token" {
				value = c.token
			}
			if strings.Contains(string(data), value) {
				c.Errorf("got the %s in %s", name, path)
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		c.Errorf("got %d files, %v, want what the commands keep", files, err)
	}
}

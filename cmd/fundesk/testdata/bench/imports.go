package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Of an import: persons in the file, and requests at a time.
const (
	importLines   = 5000
	importWorkers = 8
)

// imports creates persons in the real service. The yardstick sends the same lines with
// the same concurrency, and does nothing else.
func (p programs) imports(runs int) (err error) {
	folder := filepath.Join(p.folder, "import")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	d := p.database(filepath.Join(folder, "fundeskd.db"))
	added, err := d.command("organization", "add", "--name", "Aid", "--abbreviation", "AID", "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("add an organization: %w", err)
	}
	var organization struct{ UUID string }
	if err := json.Unmarshal(added, &organization); err != nil {
		return err
	}
	server, err := d.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	p.url, p.token = server.url, server.token

	file := filepath.Join(folder, "persons.ndjson")
	if err := os.WriteFile(file, importFile(organization.UUID), 0o600); err != nil {
		return err
	}
	workers := strconv.Itoa(importWorkers)
	// Without the results of the run before, or there is nothing left to create.
	anew := []string{"sh", "-c", `rm -f "$0.results.ndjson" && exec "$@"`, file}
	own, floor, err := p.contest(runs,
		append(anew, p.fundesk, "person", "import", file, "--yes", "--quiet", "--concurrency", workers),
		[]string{p.floor, "create", p.url + "/api/v1/persons", file, workers})
	if err != nil {
		return err
	}
	rowOfSpeeds(
		fmt.Sprintf("`person import`, %d lines, %d at a time", importLines, importWorkers),
		own, floor, "plain creates",
	)

	// Each takes its turn after the other has put other numbers there.
	file, err = p.corrections(folder, "1")
	if err != nil {
		return err
	}
	others, err := p.corrections(folder, "2")
	if err != nil {
		return err
	}
	own, floor, err = p.contest(runs,
		[]string{p.fundesk, "person", "apply", file, "--yes", "--quiet", "--concurrency", workers},
		[]string{p.floor, "create", p.url + "/api/v1/persons", others, workers})
	if err != nil {
		return err
	}
	rowOfSpeeds(
		fmt.Sprintf("`person apply`, %d phone numbers, %d at a time", importLines, importWorkers),
		own, floor, "plain updates",
	)
	return nil
}

// rowOfSpeeds prints a row with the lines a second of two runs.
func rowOfSpeeds(what string, own, floor outcome, yardstick string) {
	speed := func(o outcome) float64 { return importLines / o.wall.Seconds() }
	row(
		what,
		fmt.Sprintf("%.0f/s", speed(own)),
		fmt.Sprintf("%s %.0f/s", yardstick, speed(floor)),
		speed(own)/speed(floor),
		"≥ 0.7",
	)
}

// corrections writes a file that gives as many persons another number.
func (p programs) corrections(folder, digit string) (string, error) {
	command := exec.Command(p.fundesk, "person", "list", "--limit", strconv.Itoa(importLines), "-q", "-o", "id")
	command.Env = p.environment()
	ids, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("list the persons: %w", err)
	}
	var text strings.Builder
	n := 0
	for id := range strings.Lines(string(ids)) {
		n++
		fmt.Fprintf(&text, `{"uuid":"%s","phoneNumber":"+3120%s%06d"}`+"\n", strings.TrimSpace(id), digit, n)
	}
	file := filepath.Join(folder, "corrections"+digit+".ndjson")
	return file, os.WriteFile(file, []byte(text.String()), 0o600)
}

func importFile(organization string) []byte {
	var text strings.Builder
	for n := range importLines {
		fmt.Fprintf(
			&text,
			`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q,`+
				`"name":{"firstName":"Anna","lastName":"Jansen %[2]d"},`+
				`"email":"anna%[2]d@example.org","mobilePhoneNumber":"+316%08[2]d","language":"nl",`+
				`"address":{"street":"Kerkstraat","houseNumber":"%[2]d",`+
				`"zipCode":"8094 RA","city":"Zwolle","country":"NL"}}`+"\n",
			organization,
			n,
		)
	}
	return []byte(text.String())
}

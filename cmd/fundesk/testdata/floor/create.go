package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"

	"fundesk/apiclient/apitype"
)

// create posts each line of a file to a list, that many at a time, and looks at the status
// of the answers alone. A line that begins with a uuid is an update of that record.
func create(list, file, atATime string) error {
	workers, err := strconv.Atoi(atATime)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	lines := make(chan []byte)
	var group sync.WaitGroup
	failed := make([]error, workers)
	for i := range workers {
		group.Go(func() {
			for line := range lines {
				if failed[i] == nil {
					failed[i] = post(client, list, line)
				}
			}
		})
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for scanner.Scan() {
		lines <- bytes.Clone(scanner.Bytes())
	}
	close(lines)
	group.Wait()
	return errors.Join(append(failed, scanner.Err())...)
}

// post creates one record under a new uuid, as fundesk does.
func post(client *http.Client, list string, line []byte) error {
	method, url, body := http.MethodPost, list, append([]byte(`{"uuid":"`+apitype.NewUUID().String()+`",`), line[1:]...)
	if given, ok := bytes.CutPrefix(line, []byte(`{"uuid":"`)); ok {
		id, fields, _ := bytes.Cut(given, []byte(`",`))
		method, url, body = http.MethodPut, list+"/"+string(id)+"/actions/update", append([]byte("{"), fields...)
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("FUNDESK_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("status %s: %s", answer.Status, text)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

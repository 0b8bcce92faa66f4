package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// exampleClient returns a client of a service that knows one record of each noun.
func exampleClient() (*apiclient.Client, func()) {
	const id = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/persons", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200,
			`{"pageInfo":{"hasNextPage":false},"edges":[{"cursor":"c","node":{"uuid":"`+id+`","lastName":"Jansen"}}]}`)
	})
	mux.HandleFunc("PUT /api/v1/calls/{uuid}/actions/add-attempt", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"uuid":"`+id+`","status":"requested","attemptsCount":1}`)
	})
	mux.HandleFunc("GET /api/v1/pledges/{uuid}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"uuid":"`+id+`","status":"active","donationAmount":12.5}`)
	})
	mux.HandleFunc("POST /api/v1/entity-access/actions/mark-processed", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(204)
	})
	server := httptest.NewServer(mux)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL})
	if err != nil {
		panic(err)
	}
	return client, server.Close
}

func ExampleCollection_All() {
	client, stop := exampleClient()
	defer stop()
	for record, err := range client.Persons.All(context.Background(), apitype.PersonListOptions{},
		apiclient.AllOptions{}) {
		person, err := apiclient.Decoded(record, err)
		if err != nil {
			fmt.Println(err) // The list ended early.
			return
		}
		fmt.Println(*person.LastName)
	}
	// Output: Jansen
}

func ExampleClient_Send() {
	client, stop := exampleClient()
	defer stop()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	at := apitype.TimeFromMilli(1795166100000) // Its own time: a repeat is recognised by it.
	change, err := apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{AttemptAt: &at})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.Send(context.Background(), change)
	fmt.Println(answer.Status, err)
	// Output: 200 <nil>
}

func ExampleCollection_Get() {
	client, stop := exampleClient()
	defer stop()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	record, err := client.Pledges.Get(context.Background(), id)
	if err != nil {
		fmt.Println(apiclient.KindOf(err))
		return
	}
	pledge, err := record.Decode()
	fmt.Println(pledge.Status, pledge.DonationAmount, err)
	// Output: active 12.5 <nil>
}

func ExampleEntityAccessService_MarkProcessed() {
	client, stop := exampleClient()
	defer stop()
	err := client.EntityAccess.MarkProcessed(context.Background(), []apitype.ProcessedEntry{{
		EntityName:  apitype.EntityCall,
		EntityUUID:  apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"),
		ProcessedAt: apitype.TimeFromMilli(1795166100000),
	}})
	fmt.Println(err)
	// Output: <nil>
}

package queue

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"fundesk/apiclient/apitype"
)

// spreadOver is the largest number of calls that are spread over the agents.
const spreadOver = 50

// Spread orders calls for one agent of a service without a queue: by a rendezvous hash of agent and call. Each agent
// has another first call, and the order of the rest stays when one is gone. It does not change calls.
func Spread[T any](agent string, calls []T, id func(T) apitype.UUID) []T {
	weight := make(map[apitype.UUID][sha256.Size]byte, len(calls))
	for _, call := range calls {
		id := id(call)
		weight[id] = sha256.Sum256(append([]byte(agent), id[:]...))
	}
	return slices.SortedStableFunc(slices.Values(calls), func(a, b T) int {
		x, y := weight[id(a)], weight[id(b)]
		return bytes.Compare(x[:], y[:])
	})
}

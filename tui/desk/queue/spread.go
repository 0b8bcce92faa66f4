package queue

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"fundesk/apiclient/apitype"
)

// spreadOver is the number of oldest calls that are spread over the agents.
const spreadOver = 50

// Spread orders calls, the oldest first, for one agent of a service without a queue: the oldest fifty by a rendezvous
// hash of agent and call. Each agent has another first call, and the order of the rest stays when one is gone. It does
// not change calls.
func Spread[T any](agent string, calls []T, id func(T) apitype.UUID) []T {
	spread := slices.Clone(calls)
	oldest := spread[:min(len(spread), spreadOver)]
	weight := make(map[apitype.UUID][sha256.Size]byte, len(oldest))
	for _, call := range oldest {
		id := id(call)
		weight[id] = sha256.Sum256(append([]byte(agent), id[:]...))
	}
	slices.SortStableFunc(oldest, func(a, b T) int {
		x, y := weight[id(a)], weight[id(b)]
		return bytes.Compare(x[:], y[:])
	})
	return spread
}

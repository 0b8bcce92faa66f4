package desk

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"fundesk/apiclient/apitype"
)

// spreadOver is how many of the oldest calls the agents of a floor are spread over.
const spreadOver = 50

// Spread orders calls, the oldest first, for one agent of a service without a queue: the
// oldest fifty by a rendezvous hash of agent and call. Each agent has another call first,
// and keeps the order of those that are left when one goes. calls is left as it is.
func Spread(agent string, calls []apitype.UUID) []apitype.UUID {
	spread := slices.Clone(calls)
	oldest := spread[:min(len(spread), spreadOver)]
	weight := make(map[apitype.UUID][sha256.Size]byte, len(oldest))
	for _, id := range oldest {
		weight[id] = sha256.Sum256(append([]byte(agent), id[:]...))
	}
	slices.SortStableFunc(oldest, func(a, b apitype.UUID) int {
		x, y := weight[a], weight[b]
		return bytes.Compare(x[:], y[:])
	})
	return spread
}

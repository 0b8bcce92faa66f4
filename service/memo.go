package service

import (
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// memo remembers answers for a short time, by what was asked. The zero value is ready, and it is
// safe for concurrent use.
type memo[T any] struct {
	mu   sync.Mutex
	kept map[string]remembered[T]
}

// remembered is an answer and how long it holds.
type remembered[T any] struct {
	value T
	since apitype.Time
	life  time.Duration
}

// maxMemo bounds the answers that are remembered.
const maxMemo = 1000

// get is the answer to what was asked, where it still holds. One of a later time does not: the
// clock was put back.
func (m *memo[T]) get(asked string, now apitype.Time) (value T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.kept[asked]
	age := now.Sub(r.since.Time)
	return r.value, ok && age >= 0 && age < r.life
}

// put remembers an answer.
func (m *memo[T]) put(asked string, value T, now apitype.Time, life time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= maxMemo {
		m.kept = map[string]remembered[T]{}
	}
	m.kept[asked] = remembered[T]{value, now, life}
}

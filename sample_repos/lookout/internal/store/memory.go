package store

import (
	"slices"
	"sync"

	"example.org/lookout/internal/monitor"
)

const (
	mostOutcomes = 1000 // for each target
	mostChanges  = 500
)

// Memory forgets the oldest when there is too much, and everything at the end.
type Memory struct {
	mu       sync.Mutex
	outcomes map[string][]monitor.Outcome
	changes  []monitor.Change
}

var _ Store = (*Memory)(nil)

// NewMemory is empty.
func NewMemory() *Memory {
	return &Memory{outcomes: map[string][]monitor.Outcome{}}
}

func (m *Memory) AddOutcome(outcome monitor.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[outcome.Target] = newest(append(m.outcomes[outcome.Target], outcome), mostOutcomes)
	return nil
}

func (m *Memory) AddChange(change monitor.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes = newest(append(m.changes, change), mostChanges)
	return nil
}

func (m *Memory) Outcomes(target string) []monitor.Outcome {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.outcomes[target])
}

func (m *Memory) Changes() []monitor.Change {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.changes)
}

func (m *Memory) Close() error { return nil }

func newest[T any](items []T, most int) []T {
	if len(items) > most {
		return items[len(items)-most:]
	}
	return items
}

// Package state turns single outcomes into a status.
package state

import (
	"sync"

	"example.org/lookout/internal/monitor"
)

// Tracker remembers for each target how it is.
type Tracker struct {
	mu      sync.RWMutex
	targets map[string]*health
}

type health struct {
	after    int
	status   monitor.Status
	failures int // in a row
	problem  string
}

// NewTracker starts with everything up.
func NewTracker(targets []monitor.Target) *Tracker {
	t := &Tracker{targets: map[string]*health{}}
	for _, target := range targets {
		t.targets[target.Name] = &health{after: target.After, status: monitor.Up}
	}
	return t
}

// Observe counts an outcome. The change is nil if the status stays what it was.
func (t *Tracker) Observe(outcome monitor.Outcome) *monitor.Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	h, known := t.targets[outcome.Target]
	if !known {
		return nil
	}
	before := h.status
	h.count(outcome)
	if h.status == before {
		return nil
	}
	return &monitor.Change{
		Target: outcome.Target, From: before, To: h.status, At: outcome.At, Problem: outcome.Problem,
	}
}

func (h *health) count(outcome monitor.Outcome) {
	h.problem = outcome.Problem
	if outcome.OK() {
		h.failures, h.status = 0, monitor.Up
		return
	}
	h.failures++
	if h.failures >= h.after {
		h.status = monitor.Down
	} else {
		h.status = monitor.Failing
	}
}

// Statuses is a copy of the present state.
func (t *Tracker) Statuses() map[string]monitor.Status {
	t.mu.RLock()
	defer t.mu.RUnlock()
	statuses := make(map[string]monitor.Status, len(t.targets))
	for name, h := range t.targets {
		statuses[name] = h.status
	}
	return statuses
}

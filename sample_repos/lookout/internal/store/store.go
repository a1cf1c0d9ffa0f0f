// Package store keeps what happened.
package store

import "example.org/lookout/internal/monitor"

// Store keeps outcomes and changes.
type Store interface {
	AddOutcome(outcome monitor.Outcome) error
	AddChange(change monitor.Change) error
	Outcomes(target string) []monitor.Outcome
	Changes() []monitor.Change
	Close() error
}

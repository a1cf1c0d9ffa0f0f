// Package monitor holds the words that all other packages share.
package monitor

import "time"

// Kind says how a target is asked.
type Kind string

const (
	HTTP Kind = "http"
	TCP  Kind = "tcp"
)

// Target is something that is watched.
type Target struct {
	Name    string
	Kind    Kind
	Address string
	Every   time.Duration
	After   int // failures in a row until it is down
}

// Outcome is what one probe found.
type Outcome struct {
	Target  string        `json:"target"`
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took"`
	Problem string        `json:"problem,omitempty"` // empty if all is well
}

// OK tells whether the probe succeeded.
func (o Outcome) OK() bool { return o.Problem == "" }

// Status is the state of a target over time.
type Status string

const (
	Up      Status = "up"
	Failing Status = "failing"
	Down    Status = "down"
)

// Change is a status that became another.
type Change struct {
	Target  string    `json:"target"`
	From    Status    `json:"from"`
	To      Status    `json:"to"`
	At      time.Time `json:"at"`
	Problem string    `json:"problem,omitempty"`
}

// IsRecovery tells whether a target that was down is up again.
func (c Change) IsRecovery() bool { return c.From == Down && c.To == Up }

// Package probe asks a target once whether it is well.
package probe

import (
	"context"
	"fmt"
	"time"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

const timeout = 10 * time.Second

// Prober asks one kind of target. A nil error means that it is well.
type Prober interface {
	Probe(ctx context.Context, address string) error
}

// Set knows a prober for each kind.
type Set struct {
	clock   clock.Clock
	probers map[monitor.Kind]Prober
}

// NewSet is a set with the probers for HTTP and TCP.
func NewSet(c clock.Clock) *Set {
	return &Set{clock: c, probers: map[monitor.Kind]Prober{
		monitor.HTTP: NewHTTPProber(),
		monitor.TCP:  &TCPProber{},
	}}
}

// Replace puts another prober in place of the one for a kind.
func (s *Set) Replace(kind monitor.Kind, p Prober) { s.probers[kind] = p }

// Run asks a target and reports; it never fails itself.
func (s *Set) Run(ctx context.Context, target monitor.Target) monitor.Outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := s.clock.Now()
	err := s.ask(ctx, target)
	outcome := monitor.Outcome{Target: target.Name, At: start, Took: s.clock.Now().Sub(start)}
	if err != nil {
		outcome.Problem = err.Error()
	}
	return outcome
}

func (s *Set) ask(ctx context.Context, target monitor.Target) (err error) {
	prober, known := s.probers[target.Kind]
	if !known {
		return fmt.Errorf("nobody can ask a target of kind %q", target.Kind)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("prober panicked: %v", r)
		}
	}()
	return prober.Probe(ctx, target.Address)
}

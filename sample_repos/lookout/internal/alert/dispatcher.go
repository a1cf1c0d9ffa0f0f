// Package alert tells people what changed, without wearing them out.
package alert

import (
	"context"
	"log/slog"
	"time"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

const (
	attempts   = 4
	firstPause = time.Second
)

// Notifier delivers a message to people.
type Notifier interface {
	Notify(ctx context.Context, change monitor.Change) error
}

// Dispatcher decides who is told about what, and tries again when that fails.
type Dispatcher struct {
	notifier Notifier
	clock    clock.Clock
	restraint
	changes chan monitor.Change
	log     *slog.Logger
}

// NewDispatcher makes a dispatcher with room for a burst of changes.
func NewDispatcher(n Notifier, c clock.Clock, log *slog.Logger) *Dispatcher {
	return &Dispatcher{
		notifier: n, clock: c, log: log,
		restraint: restraint{last: map[string]time.Time{}},
		changes:   make(chan monitor.Change, 64),
	}
}

// Submit never blocks the prober; with a full queue the change is dropped and logged.
func (d *Dispatcher) Submit(change monitor.Change) {
	select {
	case d.changes <- change:
	default:
		d.log.Warn("too many changes at once", "target", change.Target)
	}
}

// Run delivers until the context ends.
func (d *Dispatcher) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-d.changes:
			d.handle(ctx, change)
		}
	}
}

func (d *Dispatcher) handle(ctx context.Context, change monitor.Change) {
	if !worthTelling(change) || d.holdsBack(change, d.clock.Now()) {
		return
	}
	if err := d.deliver(ctx, change); err != nil {
		d.log.Error("nobody could be told", "target", change.Target, "error", err)
	}
}

// deliver tries a few times, with a pause that doubles.
func (d *Dispatcher) deliver(ctx context.Context, change monitor.Change) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := d.notifier.Notify(ctx, change)
		if err == nil || attempt == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.clock.After(pause):
		}
		pause *= 2
	}
}

func worthTelling(change monitor.Change) bool {
	return change.To == monitor.Down || change.IsRecovery()
}

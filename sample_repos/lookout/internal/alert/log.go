package alert

import (
	"context"
	"log/slog"

	"example.org/lookout/internal/monitor"
)

// Log writes to the log, for setups without a chat.
type Log struct {
	*slog.Logger
}

func (l Log) Notify(_ context.Context, change monitor.Change) error {
	l.Info(describe(change))
	return nil
}

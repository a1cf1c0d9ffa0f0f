package alert

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

// flaky fails so many times before it works.
type flaky struct {
	failures int
	calls    int
	told     []monitor.Change
}

func (f *flaky) Notify(_ context.Context, change monitor.Change) error {
	f.calls++
	if f.calls <= f.failures {
		return errors.New("the chat is down too")
	}
	f.told = append(f.told, change)
	return nil
}

func setUp(failures int) (*Dispatcher, *flaky, *clock.Fixed) {
	notifier, fixed := &flaky{failures: failures}, &clock.Fixed{Time: time.Unix(0, 0)}
	return NewDispatcher(notifier, fixed, slog.New(slog.NewTextHandler(io.Discard, nil))), notifier, fixed
}

var (
	down    = monitor.Change{Target: "shop", From: monitor.Failing, To: monitor.Down}
	back    = monitor.Change{Target: "shop", From: monitor.Down, To: monitor.Up}
	hiccup  = monitor.Change{Target: "shop", From: monitor.Up, To: monitor.Failing}
	another = monitor.Change{Target: "database", From: monitor.Failing, To: monitor.Down}
)

func TestWhatIsTold(t *testing.T) {
	cases := map[string]struct {
		changes []monitor.Change
		want    int
	}{
		"a target that is down":         {[]monitor.Change{down}, 1},
		"not a hiccup":                  {[]monitor.Change{hiccup}, 0},
		"not the same twice in a while": {[]monitor.Change{down, back, down}, 2},
		"but another target":            {[]monitor.Change{down, another}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dispatcher, notifier, _ := setUp(0)
			for _, change := range c.changes {
				dispatcher.handle(context.Background(), change)
			}
			if len(notifier.told) != c.want {
				t.Errorf("told %v, want %d", notifier.told, c.want)
			}
		})
	}
}

func TestTheSameTargetMayBeInTheNewsAgainLater(t *testing.T) {
	dispatcher, notifier, fixed := setUp(0)
	dispatcher.handle(context.Background(), down)
	fixed.Advance(quiet)
	dispatcher.handle(context.Background(), down)
	if len(notifier.told) != 2 {
		t.Errorf("told %d times", len(notifier.told))
	}
}

func TestDeliveryIsTriedAgain(t *testing.T) {
	dispatcher, notifier, fixed := setUp(3)
	start := fixed.Now()
	dispatcher.handle(context.Background(), down)
	if len(notifier.told) != 1 || fixed.Now().Sub(start) != 7*time.Second {
		t.Errorf("told %d times after %s", len(notifier.told), fixed.Now().Sub(start))
	}
}

package state

import (
	"testing"

	"example.org/lookout/internal/monitor"
)

func TestObserve(t *testing.T) {
	const up, failing, down = monitor.Up, monitor.Failing, monitor.Down
	cases := map[string]struct {
		after    int
		outcomes string // x is a failure
		want     []monitor.Status
	}{
		"all is well":       {2, "...", nil},
		"a hiccup":          {2, ".x.", []monitor.Status{failing, up}},
		"down after two":    {2, "xxx", []monitor.Status{failing, down}},
		"down at once":      {1, "x", []monitor.Status{down}},
		"down and up again": {2, "xx.", []monitor.Status{failing, down, up}},
		"a success in between starts the count anew": {3, "xx.xx", []monitor.Status{failing, up, failing}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tracker := NewTracker([]monitor.Target{{Name: "t", After: c.after}})
			var got []monitor.Status
			for _, letter := range c.outcomes {
				outcome := monitor.Outcome{Target: "t"}
				if letter == 'x' {
					outcome.Problem = "broken"
				}
				if change := tracker.Observe(outcome); change != nil {
					got = append(got, change.To)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Fatalf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

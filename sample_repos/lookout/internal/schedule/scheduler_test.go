package schedule

import (
	"context"
	"testing"
	"time"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

type echo struct{}

func (echo) Run(_ context.Context, target monitor.Target) monitor.Outcome {
	return monitor.Outcome{Target: target.Name}
}

func TestTargetsAreAskedAsOftenAsTheyWant(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	counts := map[string]int{}
	scheduler := New(echo{}, &clock.Fixed{Time: time.Unix(0, 0)}, 1, func(o monitor.Outcome) {
		counts[o.Target]++
		if counts["often"] == 30 {
			cancel()
		}
	})
	scheduler.Run(ctx, []monitor.Target{
		{Name: "often", Every: time.Second},
		{Name: "seldom", Every: 10 * time.Second},
	})
	if counts["seldom"] < 2 || counts["seldom"] > 4 {
		t.Errorf("asked seldom %d times while often was asked 30 times", counts["seldom"])
	}
}

func TestTheFirstRoundIsSpread(t *testing.T) {
	start := time.Unix(100, 0)
	queue := newQueue([]monitor.Target{{Name: "a", Every: 4 * time.Second}, {Name: "b", Every: 4 * time.Second}}, start)
	if got := (*queue)[1].due.Sub((*queue)[0].due); got != 2*time.Second {
		t.Errorf("%s between the two", got)
	}
}

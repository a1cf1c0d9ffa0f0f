package alert

import (
	"time"

	"example.org/lookout/internal/monitor"
)

const quiet = 15 * time.Minute

// restraint remembers when each target was last in the news.
type restraint struct {
	last map[string]time.Time
}

// holdsBack tells whether a change comes too soon after the last alert about the same target. Recoveries never do.
func (r *restraint) holdsBack(change monitor.Change, now time.Time) bool {
	if change.IsRecovery() {
		return false
	}
	if last, told := r.last[change.Target]; told && now.Sub(last) < quiet {
		return true
	}
	r.last[change.Target] = now
	return false
}

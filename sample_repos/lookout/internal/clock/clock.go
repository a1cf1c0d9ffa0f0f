// Package clock lets tests decide what time it is.
package clock

import "time"

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// System is the clock of the machine.
type System struct{}

func (System) Now() time.Time { return time.Now() }

func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Fixed stands still and never makes anybody wait.
type Fixed struct{ Time time.Time }

func (f *Fixed) Now() time.Time { return f.Time }

func (f *Fixed) After(d time.Duration) <-chan time.Time {
	f.Time = f.Time.Add(d)
	fired := make(chan time.Time, 1)
	fired <- f.Time
	return fired
}

// Advance moves the time on.
func (f *Fixed) Advance(d time.Duration) { f.Time = f.Time.Add(d) }

// Package schedule decides when each target is asked, and by which worker.
package schedule

import (
	"container/heap"
	"context"
	"sync"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

// Runner asks a target.
type Runner interface {
	Run(ctx context.Context, target monitor.Target) monitor.Outcome
}

// Scheduler feeds workers with the targets that are due.
type Scheduler struct {
	runner  Runner
	clock   clock.Clock
	workers int
	report  func(monitor.Outcome)
}

// New makes a scheduler that gives every outcome to report, one at a time.
func New(runner Runner, c clock.Clock, workers int, report func(monitor.Outcome)) *Scheduler {
	return &Scheduler{runner: runner, clock: c, workers: workers, report: report}
}

// Run works until the context ends, and returns when the last worker has finished.
func (s *Scheduler) Run(ctx context.Context, targets []monitor.Target) {
	jobs := make(chan monitor.Target)
	outcomes := make(chan monitor.Outcome)
	var workers sync.WaitGroup
	for range s.workers {
		workers.Add(1)
		go func() {
			defer workers.Done()
			s.work(ctx, jobs, outcomes)
		}()
	}
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		for outcome := range outcomes {
			s.report(outcome)
		}
	}()
	s.feed(ctx, newQueue(targets, s.clock.Now()), jobs)
	close(jobs)
	workers.Wait()
	close(outcomes)
	<-reported
}

func (s *Scheduler) work(ctx context.Context, jobs <-chan monitor.Target, outcomes chan<- monitor.Outcome) {
	for target := range jobs {
		outcome := s.runner.Run(ctx, target)
		if ctx.Err() == nil { // a probe that was cut off says nothing about the target
			outcomes <- outcome
		}
	}
}

// feed waits for the next target that is due and queues it again. A slow worker delays targets, it never piles them up.
func (s *Scheduler) feed(ctx context.Context, queue *dueQueue, jobs chan<- monitor.Target) {
	for queue.Len() > 0 {
		next := (*queue)[0]
		if wait := next.due.Sub(s.clock.Now()); wait > 0 {
			select {
			case <-ctx.Done():
				return
			case <-s.clock.After(wait):
			}
		}
		select {
		case <-ctx.Done():
			return
		case jobs <- next.target:
		}
		(*queue)[0].due = s.clock.Now().Add(next.target.Every)
		heap.Fix(queue, 0)
	}
}

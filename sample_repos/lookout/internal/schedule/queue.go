package schedule

import (
	"container/heap"
	"time"

	"example.org/lookout/internal/monitor"
)

type entry struct {
	target monitor.Target
	due    time.Time
}

// dueQueue is a heap with the target that is due first on top.
type dueQueue []entry

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q dueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *dueQueue) Push(x any)        { *q = append(*q, x.(entry)) }

func (q *dueQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// newQueue spreads the first round: each target starts at another part of its interval, so that not everything is asked at once.
func newQueue(targets []monitor.Target, now time.Time) *dueQueue {
	q := &dueQueue{}
	for i, target := range targets {
		offset := target.Every * time.Duration(i) / time.Duration(len(targets))
		*q = append(*q, entry{target, now.Add(offset)})
	}
	heap.Init(q)
	return q
}

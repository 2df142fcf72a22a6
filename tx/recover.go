package tx

import "github.com/millrace-net/millrace/internal/check"

// restart has the queue start over: what the device had not done is lost.
func (q *Queue) restart() {
	q.abandon()
	q.ring.Start()
}

// abandon takes the ring from the device, and home what it held. The lists are
// empty then, and stay where they are.
func (q *Queue) abandon() {
	q.closeSession()
	q.ring.Stop()
	q.reap(&q.count.lost)
	if q.cutter.on {
		q.endCut()
		q.count.lost++
	}
	q.count.rung = q.count.posted
	if check.On && (q.head != q.tail || q.InFlight() != 0) {
		check.That(false, "an empty queue holds what lies between %+v and %+v, %d in flight",
			q.tail, q.head, q.InFlight())
	}
}

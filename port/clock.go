package port

import "github.com/millrace-net/millrace/internal/cpu"

// A clock times the stages of a round by the time stamp counter: reading it
// costs a fraction of time.Now, and a round reads it once a stage.
type clock struct {
	perSecond uint64
	begin     uint64
	last      uint64 // ticks at the end of the stage before
	published uint64
}

func newClock() clock {
	t := cpu.TSC()
	return clock{perSecond: cpu.PerSecond(), begin: t, last: t, published: t}
}

// start begins a round and gives the device's time in ns.
func (c *clock) start() int64 {
	c.last = cpu.TSC()
	return c.ns(c.last - c.begin)
}

// lap adds the ticks since the last call to a stage.
func (c *clock) lap(stage *uint64) {
	now := cpu.TSC()
	*stage += now - c.last
	c.last = now
}

// due says every 10 ms that counts are to be published.
func (c *clock) due() bool {
	if c.last-c.published < c.perSecond/100 {
		return false
	}
	c.published = c.last
	return true
}

// ns converts ticks, whole seconds first so that nothing overflows.
func (c *clock) ns(ticks uint64) int64 {
	return int64(ticks/c.perSecond*1e9 + ticks%c.perSecond*1e9/c.perSecond)
}

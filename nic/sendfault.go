package nic

import "github.com/millrace-net/millrace/desc"

// spoilSend ends a WQE in an error; 0: it does not.
func (m *mishaps) spoilSend() desc.Syndrome {
	if m.hit(m.Device.Error) {
		return m.syndrome()
	}
	return 0
}

// settleSend ends the Step of a send queue: for the next ones it sends nothing,
// or its completions are withheld.
func (m *mishaps) settleSend(s *sender) {
	if s.hold == 0 && s.mute == 0 && m.hit(m.Device.Hold) {
		if n := m.holdFor(); m.rand.IntN(2) == 0 {
			s.hold = n
		} else {
			s.mute = n
		}
	}
	if s.mute >= 0 && m.hit(m.Device.Stall) {
		m.count.faults.Stalls++
		s.mute = -1
	}
	if s.out.waiting() < maxPending && s.out.room() > 0 && m.hit(m.Hostile.SendSpurious) {
		m.count.faults.SendSpurious++
		var c desc.CQE
		c.SetSend(desc.SendFrame, s.sq.Number)
		s.out.put(&c, uint16(m.rand.Uint32()), desc.OpReq, 0)
	}
}

// completeSend completes the WQE at the front of a queue, or does it wrong.
func (m *mishaps) completeSend(s *sender, c *desc.CQE, op desc.Opcode) {
	counter, count := s.taken, &m.count.faults
	if m.hit(m.Hostile.SendCounter) {
		count.SendCounters++
		counter += 1 + uint16(m.rand.IntN(1<<16-1))
	}
	if m.hit(m.Hostile.SendOpcode) {
		count.SendOpcodes++
		op = desc.Opcode(1 + m.rand.IntN(int(desc.OpReqErr)-1))
	}
	s.out.put(c, counter, op, 0)
	if s.out.room() > 0 && m.hit(m.Hostile.SendTwice) {
		count.SendTwice++
		s.out.put(c, counter, op, 0)
	}
}

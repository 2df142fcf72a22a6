package gso

// Move tells where the pieces that Start took lie by the time the next segment
// is cut: as many, each as long as before. They are lent in the place of those;
// payload that followed the headers in head stays lent. It serves who may not
// hold memory between two segments, as a device may not.
func (s *Segmenter) Move(payload [][]byte) {
	s.pieces = payload
	if s.next > 0 {
		s.piece = payload[s.next-1]
	}
}

// Package counter lists counters by name, as "ethtool -S" does.
//
//	counter.All(counter.List{{"packets", s.Packets}, {"bytes", s.Bytes}})
//
// The trap: a name is an interface. People grep for it, so it is ethtool's where
// there is one.
package counter

package desc

// A CQE is a 64-byte completion (facts/mlx5e.md 2.1).
type CQE [64]byte

// MiniFormat is what the first half of a mini CQE carries (facts/mlx5e.md
// 2.4).
type MiniFormat uint8

const (
	MiniHash       MiniFormat = 0
	MiniCSum       MiniFormat = 1
	MiniFlowStride MiniFormat = 2
	MiniCSumStride MiniFormat = 3
	MiniL3L4Stride MiniFormat = 4
)

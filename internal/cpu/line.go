package cpu

// CacheLine is the size in bytes that packet memory is laid out for: 64 on
// amd64 and on the server kinds of arm64.
const CacheLine = 64

// CacheLinePad keeps the fields on its two sides on different cache lines,
// whatever the offset of the struct.
type CacheLinePad struct{ _ [CacheLine]byte }

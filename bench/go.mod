module github.com/millrace-net/millrace/bench

go 1.26.3

require (
	github.com/gopacket/gopacket v1.7.7
	github.com/millrace-net/millrace v0.1.0
	github.com/tailscale/wireguard-go v0.0.0-20260821191448-23d18d66172c
	gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237
)

require (
	golang.org/x/exp v0.0.0-20250711185948-6ae5c78190dc // indirect
	golang.org/x/net v0.55.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.zx2c4.com/wintun v0.0.0-20230126152724-0fa3db229ce2 // indirect
)

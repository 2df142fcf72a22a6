// SPDX-License-Identifier: Apache-2.0
// drop_udp_port drops UDP over IPv4 and IPv6 whose destination is one port and
// counts what it drops. Everything else passes.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

const volatile __u16 port = 53;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

// udp finds the UDP header behind options of IPv4; not behind extension
// headers of IPv6. A fragment that is not the first has none.
static __always_inline struct udphdr *udp(void *data, void *end)
{
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct ipv6hdr *ip6 = (void *)(eth + 1);

	if ((void *)(eth + 1) > end)
		return 0;
	if (eth->h_proto == bpf_htons(ETH_P_IP) && (void *)(ip + 1) <= end &&
	    ip->protocol == IPPROTO_UDP && ip->ihl >= 5 &&
	    !(ip->frag_off & bpf_htons(0x1fff)))
		return (void *)ip + ip->ihl * 4;
	if (eth->h_proto == bpf_htons(ETH_P_IPV6) && (void *)(ip6 + 1) <= end &&
	    ip6->nexthdr == IPPROTO_UDP)
		return (void *)(ip6 + 1);
	return 0;
}

SEC("xdp")
int drop_udp_port(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct udphdr *h = udp((void *)(long)ctx->data, end);
	__u32 first = 0;
	__u64 *n;

	if (!h || (void *)(h + 1) > end || h->dest != bpf_htons(port))
		return XDP_PASS;
	n = bpf_map_lookup_elem(&dropped, &first);
	if (n)
		__sync_fetch_and_add(n, 1);
	return XDP_DROP;
}

char _license[] SEC("license") = "Apache-2.0";

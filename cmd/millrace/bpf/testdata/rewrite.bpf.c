// SPDX-License-Identifier: Apache-2.0
// Two programs that rewrite frames, both of several buffers, too: pop_vlan
// takes the outer VLAN tag out, reflect sends a frame back where it came from.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct tagged {
	__u8 addresses[2 * ETH_ALEN];
	__be16 tpid;
	__be16 tci;
};

SEC("xdp.frags")
int pop_vlan(struct xdp_md *ctx)
{
	struct tagged *h = (void *)(long)ctx->data;
	__u8 addresses[2 * ETH_ALEN];

	if ((void *)(h + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (h->tpid != bpf_htons(ETH_P_8021Q) && h->tpid != bpf_htons(ETH_P_8021AD))
		return XDP_PASS;
	__builtin_memcpy(addresses, h->addresses, sizeof(addresses));
	if (bpf_xdp_adjust_head(ctx, 4))
		return XDP_ABORTED;
	h = (void *)(long)ctx->data;
	if ((void *)h->addresses + sizeof(addresses) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	__builtin_memcpy(h->addresses, addresses, sizeof(addresses));
	return XDP_PASS;
}

SEC("xdp.frags")
int reflect(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	__u8 swap[ETH_ALEN];

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	__builtin_memcpy(swap, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, swap, ETH_ALEN);
	return XDP_TX;
}

char _license[] SEC("license") = "Apache-2.0";

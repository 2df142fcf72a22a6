// SPDX-License-Identifier: Apache-2.0
// The verifier refuses this program: it reads a byte that may lie behind the
// end of the frame.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int unchecked(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data;

	return data[12] == 8 ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "Apache-2.0";

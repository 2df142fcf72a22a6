// SPDX-License-Identifier: Apache-2.0
// A program, but none for XDP.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("socket")
int everything(struct __sk_buff *skb)
{
	return skb->len;
}

char _license[] SEC("license") = "Apache-2.0";

/*
 * The DPDK side of the comparisons. It reads one request a line and answers
 * each with nanoseconds a unit and the number of packets out of a burst:
 *
 *	ptype            header length of a frame (rte_net_get_ptype)
 *	cksum BYTES      sum of a buffer (rte_raw_cksum)
 *	burst FLOWS N    GRO of N packets (rte_gro_reassemble_burst)
 *	ctx FLOWS N      the same with a context (rte_gro_reassemble, timeout_flush)
 *	gso              44 segments of 1448 bytes (rte_gso_segment)
 *
 * Packets are made and freed outside of the timed part. An answer is the median
 * of ROUNDS runs, as on the Go side.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_gro.h>
#include <rte_gso.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_net.h>
#include <rte_tcp.h>

enum {
	HEADERS = 66, /* Ethernet 14, IPv4 20, TCP 20, timestamps 12 */
	MSS = 1448,
	GROUP = 128, /* packets prepared at a time */
	SEGS = 44,
	ROUNDS = 33, /* runs timed for an answer */
};

static struct rte_mempool *small, *large, *indirect;
static volatile uint32_t sink;

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* ns is the median run in nanoseconds a unit. */
static double ns(uint64_t cycles[ROUNDS], int units)
{
	qsort(cycles, ROUNDS, sizeof *cycles, compare);
	return (double)cycles[ROUNDS / 2] * 1e9 / (double)rte_get_tsc_hz() / units;
}

/* headers writes those of the segment at seq of a flow. */
static void headers(uint8_t *b, int flow, uint32_t seq, uint16_t id, int payload)
{
	static const uint8_t macs[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
	static const uint8_t timestamps[12] = {1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6};
	struct rte_ipv4_hdr *ip = (void *)(b + 14);
	struct rte_tcp_hdr *tcp = (void *)(b + 34);

	memset(b, 0, HEADERS);
	memcpy(b, macs, sizeof macs);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(HEADERS - 14 + payload);
	ip->packet_id = rte_cpu_to_be_16(id);
	ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_TCP;
	ip->src_addr = rte_cpu_to_be_32(0x0a000001);
	ip->dst_addr = rte_cpu_to_be_32(0x0a000002);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	tcp->src_port = rte_cpu_to_be_16(1000 + flow);
	tcp->dst_port = rte_cpu_to_be_16(80);
	tcp->sent_seq = rte_cpu_to_be_32(seq);
	tcp->recv_ack = rte_cpu_to_be_32(1);
	tcp->data_off = 32 / 4 << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG;
	tcp->rx_win = rte_cpu_to_be_16(1000);
	memcpy(b + 54, timestamps, sizeof timestamps);
}

static struct rte_mbuf *packet(struct rte_mempool *pool, int flow, int n, int payload)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *b = m ? (uint8_t *)rte_pktmbuf_append(m, HEADERS + payload) : NULL;

	if (!b) {
		fprintf(stderr, "out of packet buffers\n");
		exit(1);
	}
	headers(b, flow, (uint32_t)n * MSS, (uint16_t)n, payload);
	memset(b + HEADERS, 'a', payload);
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP;
	m->l2_len = 14;
	m->l3_len = 20;
	m->l4_len = 32;
	return m;
}

static void release(struct rte_mbuf **m, int n)
{
	for (int i = 0; i < n; i++)
		rte_pktmbuf_free(m[i]);
}

static double ptype(void)
{
	struct rte_mbuf *m[GROUP];
	struct rte_net_hdr_lens lens;
	uint64_t cycles[ROUNDS];
	uint32_t sum = 0;

	for (int i = 0; i < GROUP; i++)
		m[i] = packet(small, i, 0, MSS);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = rte_rdtsc_precise();
		for (int i = 0; i < GROUP; i++)
			sum += rte_net_get_ptype(m[i], &lens, RTE_PTYPE_ALL_MASK) + lens.l4_len;
		cycles[round] = rte_rdtsc_precise() - start;
	}
	sink = sum;
	release(m, GROUP);
	return ns(cycles, GROUP);
}

static double cksum(int bytes)
{
	static uint8_t buf[1 << 16];
	int times = 1 + (1 << 15) / bytes;
	uint64_t cycles[ROUNDS];
	uint32_t sum = 0;

	memset(buf, 'a', sizeof buf);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = rte_rdtsc_precise();
		for (int i = 0; i < times; i++) {
			sum += rte_raw_cksum(buf, bytes);
			rte_compiler_barrier();
		}
		cycles[round] = rte_rdtsc_precise() - start;
	}
	sink = sum;
	return ns(cycles, times);
}

static double gro(int flows, int burst, int use_ctx, int *outputs)
{
	struct rte_gro_param param = {
		.gro_types = RTE_GRO_TCP_IPV4, .max_flow_num = 64, .max_item_per_flow = 128,
	};
	struct rte_mbuf *in[GROUP], *out[GROUP];
	void *ctx = rte_gro_ctx_create(&param);
	int bursts = GROUP / burst;
	uint64_t cycles[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		int outs = 0, left[GROUP / 32];
		for (int i = 0; i < GROUP; i++)
			in[i] = packet(small, i % burst % flows, i % burst / flows, MSS);
		uint64_t start = rte_rdtsc_precise();
		for (int b = 0; b < bursts; b++) {
			struct rte_mbuf **p = in + b * burst;
			if (!use_ctx) {
				left[b] = rte_gro_reassemble_burst(p, burst, &param);
				outs += left[b];
				continue;
			}
			left[b] = rte_gro_reassemble(p, burst, ctx);
			outs += rte_gro_timeout_flush(ctx, 0, RTE_GRO_TCP_IPV4, out + outs,
						      GROUP - outs);
		}
		cycles[round] = rte_rdtsc_precise() - start;
		for (int b = 0; b < bursts; b++)
			release(in + b * burst, left[b]);
		if (use_ctx)
			release(out, outs);
		*outputs = outs / bursts;
	}
	rte_gro_ctx_destroy(ctx);
	return ns(cycles, GROUP);
}

static double gso(int *outputs)
{
	struct rte_gso_ctx ctx = {
		.direct_pool = small, .indirect_pool = indirect,
		.gso_types = RTE_ETH_TX_OFFLOAD_TCP_TSO, .gso_size = HEADERS + MSS,
	};
	struct rte_mbuf *in, *out[SEGS];
	uint64_t cycles[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		in = packet(large, 0, 0, SEGS * MSS);
		in->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4;
		uint64_t start = rte_rdtsc_precise();
		*outputs = rte_gso_segment(in, &ctx, out, SEGS);
		cycles[round] = rte_rdtsc_precise() - start;
		if (*outputs != SEGS) {
			fprintf(stderr, "rte_gso_segment: %d\n", *outputs);
			exit(1);
		}
		release(out, SEGS);
		release(&in, 1);
	}
	return ns(cycles, SEGS);
}

int main(int argc, char **argv)
{
	char line[64];

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	small = rte_pktmbuf_pool_create("small", 1023, 512, 0, 2176, 0);
	large = rte_pktmbuf_pool_create("large", 15, 0, 0, 65408, 0);
	indirect = rte_pktmbuf_pool_create("indirect", 1023, 512, 0, 0, 0);
	if (!small || !large || !indirect) {
		fprintf(stderr, "no memory for packet buffers\n");
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		char what[16] = "";
		int a = 0, b = 0, outputs = 0;
		double t = -1;
		sscanf(line, "%15s %d %d", what, &a, &b);
		if (!strcmp(what, "ptype"))
			t = ptype();
		else if (!strcmp(what, "cksum") && a > 0 && a <= 1 << 16)
			t = cksum(a);
		else if (!strcmp(what, "burst") && a > 0 && b >= 32 && GROUP % b == 0)
			t = gro(a, b, 0, &outputs);
		else if (!strcmp(what, "ctx") && a > 0 && b >= 32 && GROUP % b == 0)
			t = gro(a, b, 1, &outputs);
		else if (!strcmp(what, "gso"))
			t = gso(&outputs);
		printf("answer %.3f %d\n", t, outputs);
		fflush(stdout);
	}
	return 0;
}

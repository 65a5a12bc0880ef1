// ChaCha20 key stream, and AES rounds by tables built at the start.
#define FULL 400
#include "run.h"

static uint32_t rol(uint32_t x, int k) { return x << k | x >> (32 - k); }

#define QUARTER(a, b, c, d) \
	(a += b, d = rol(d ^ a, 16), c += d, b = rol(b ^ c, 12), a += b, d = rol(d ^ a, 8), c += d, b = rol(b ^ c, 7))

static void stream(const uint32_t in[16], uint32_t out[16]) {
	uint32_t x[16];
	memcpy(x, in, sizeof x);
	for (int i = 0; i < 10; i++) {
		QUARTER(x[0], x[4], x[8], x[12]);
		QUARTER(x[1], x[5], x[9], x[13]);
		QUARTER(x[2], x[6], x[10], x[14]);
		QUARTER(x[3], x[7], x[11], x[15]);
		QUARTER(x[0], x[5], x[10], x[15]);
		QUARTER(x[1], x[6], x[11], x[12]);
		QUARTER(x[2], x[7], x[8], x[13]);
		QUARTER(x[3], x[4], x[9], x[14]);
	}
	for (int i = 0; i < 16; i++)
		out[i] = x[i] + in[i];
}

static uint8_t box[256];
static uint32_t table[4][256];

static uint8_t twice(uint8_t x) { return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b); }

static void build(void) {
	uint8_t p = 1, q = 1;
	do {
		p = p ^ twice(p);
		q ^= (uint8_t)(q << 1), q ^= (uint8_t)(q << 2), q ^= (uint8_t)(q << 4);
		if (q & 0x80)
			q ^= 0x09;
		uint8_t x = (uint8_t)(q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^ (q << 4 | q >> 4));
		box[p] = x ^ 0x63;
	} while (p != 1);
	box[0] = 0x63;
	for (int i = 0; i < 256; i++) {
		uint32_t s = box[i], d = twice(box[i]), w = d << 24 | s << 16 | s << 8 | (d ^ s);
		for (int k = 0; k < 4; k++, w = rol(w, 24))
			table[k][i] = w;
	}
}

static uint64_t work(uint32_t n) {
	uint32_t state[16], out[16];
	uint64_t sum = 0;
	build();
	for (uint32_t i = 0; i < 16; i++)
		state[i] = i * 0x01234567;
	for (uint32_t i = 0; i < n * 1000; i++) {
		stream(state, out);
		state[12]++;
		state[4] ^= out[3];
	}
	sum = mix(sum, (uint64_t)out[0] << 32 | out[15]);
	uint32_t a = 1, b = 2, c = 3, d = 4;
	for (uint32_t i = 0; i < n * 10000; i++) {
		uint32_t e = table[0][a >> 24] ^ table[1][b >> 16 & 255] ^ table[2][c >> 8 & 255] ^ table[3][d & 255] ^ i;
		uint32_t f = table[0][b >> 24] ^ table[1][c >> 16 & 255] ^ table[2][d >> 8 & 255] ^ table[3][a & 255];
		uint32_t g = table[0][c >> 24] ^ table[1][d >> 16 & 255] ^ table[2][a >> 8 & 255] ^ table[3][b & 255];
		d = table[0][d >> 24] ^ table[1][a >> 16 & 255] ^ table[2][b >> 8 & 255] ^ table[3][c & 255];
		a = e, b = f, c = g;
	}
	return mix(sum, ((uint64_t)a << 32 | b) ^ ((uint64_t)c << 32 | d));
}

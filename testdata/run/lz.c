// Compression: pairs of distance and length found through a hash of three
// bytes, unpacked again, with a CRC-32 by table and one bit by bit.
#define FULL 48
#include "run.h"

enum { SIZE = 1 << 19, WINDOW = 1 << 15, HASH = 1 << 14 };
static uint8_t plain[SIZE], packed[SIZE * 2], unpacked[SIZE + 256];
static int32_t head[HASH], chain[WINDOW];
static uint32_t table[256];

static uint32_t crc(const uint8_t *p, uint32_t n) {
	uint32_t c = ~0u;
	while (n--)
		c = table[(c ^ *p++) & 255] ^ c >> 8;
	return ~c;
}

static uint32_t slow(const uint8_t *p, uint32_t n) {
	uint32_t c = ~0u;
	while (n--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xedb88320 & -(c & 1));
	}
	return ~c;
}

static uint32_t pack(const uint8_t *p, uint32_t n, uint8_t *out) {
	uint8_t *start = out;
	for (uint32_t i = 0; i < HASH; i++)
		head[i] = -1;
	for (uint32_t i = 0; i < n;) {
		uint32_t best = 0, from = 0;
		if (i + 3 < n) {
			uint32_t h = (p[i] << 16 | p[i + 1] << 8 | p[i + 2]) * 2654435761u >> 18;
			int32_t at = head[h];
			for (int tries = 12; at >= 0 && i - (uint32_t)at < WINDOW && tries; tries--) {
				uint32_t k = 0;
				while (k < 130 && i + k < n && p[at + (int32_t)k] == p[i + k])
					k++;
				if (k > best)
					best = k, from = i - (uint32_t)at;
				int32_t older = chain[at & (WINDOW - 1)];
				if (older >= at)
					break;
				at = older;
			}
			chain[i & (WINDOW - 1)] = head[h];
			head[h] = (int32_t)i;
		}
		if (best > 3) {
			*out++ = (uint8_t)(best - 3 + 127);
			*out++ = (uint8_t)from;
			*out++ = (uint8_t)(from >> 8);
			i += best;
		} else {
			*out++ = 0;
			*out++ = p[i++];
		}
	}
	return (uint32_t)(out - start);
}

static uint32_t unpack(const uint8_t *p, uint32_t n, uint8_t *out) {
	uint8_t *start = out;
	for (const uint8_t *end = p + n; p < end;) {
		uint32_t k = *p++;
		if (!k) {
			*out++ = *p++;
			continue;
		}
		const uint8_t *from = out - (p[0] | p[1] << 8);
		p += 2;
		for (k = k - 127 + 3; k; k--)
			*out++ = *from++;
	}
	return (uint32_t)(out - start);
}

static uint64_t work(uint32_t n) {
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	uint32_t seed = 77;
	for (uint32_t i = 0; i < SIZE;) {
		uint32_t r = next(&seed);
		if (i > 300 && r & 3) {
			uint32_t from = i - 1 - (r >> 8) % 299;
			for (uint32_t k = 4 + (r >> 2) % 20; k && i < SIZE; k--)
				plain[i++] = plain[from++];
		} else {
			plain[i++] = (uint8_t)(r >> 3 & 63);
		}
	}
	uint64_t sum = 0;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t size = pack(plain, SIZE, packed);
		uint32_t back = unpack(packed, size, unpacked);
		if (back != SIZE || memcmp(plain, unpacked, SIZE))
			__builtin_trap();
		sum = mix(sum, (uint64_t)size << 32 | crc(packed, size));
		sum = mix(sum, slow(unpacked, SIZE / 8));
		plain[r * 31 % SIZE] ^= 1;
	}
	return sum;
}

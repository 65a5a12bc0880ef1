// 64-bit integers mixed: a SipHash-like round, a multiply-xorshift finaliser,
// 64x64 to 128 bit products, rotations by variable amounts, divisions.
#define FULL 12000000
#include "run.h"

static uint64_t rol(uint64_t x, unsigned k) { return x << (k & 63) | x >> (-k & 63); }

static uint64_t high(uint64_t a, uint64_t b) {
	uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
	uint64_t mid = ah * bl + (al * bl >> 32);
	uint64_t low = al * bh + (uint32_t)mid;
	return ah * bh + (mid >> 32) + (low >> 32);
}

static uint64_t work(uint32_t n) {
	uint64_t a = 0x736f6d6570736575, b = 0x646f72616e646f6d, c = 0x6c7967656e657261, d = 0x7465646279746573, s = 0;
	for (uint32_t i = 0; i < n; i++) {
		d ^= i;
		a += b, b = rol(b, 13) ^ a, a = rol(a, 32);
		c += d, d = rol(d, 16) ^ c;
		a += d, d = rol(d, 21) ^ a;
		c += b, b = rol(b, 17) ^ c, c = rol(c, 32);
		a ^= i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t z = (s += 0x9e3779b97f4a7c15);
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		a += z ^ (z >> 31);
		b ^= high(z, a);
		c = rol(c, (unsigned)z) + __builtin_clzll(z | 1) + (uint64_t)__builtin_popcountll(z);
	}
	for (uint32_t i = 1; i < n / 4; i++)
		d += a / (i | 1) ^ b % ((uint64_t)i << 7);
	return mix(mix(a, b), c ^ d);
}

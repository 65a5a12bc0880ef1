// Integer loops: the longest Collatz sequence, greatest common divisors and
// counting of set bits the slow way.
#define FULL 1500000
#include "run.h"

static uint32_t collatz(uint32_t start) {
	uint64_t x = start;
	uint32_t steps = 0;
	while (x != 1) {
		x = (x & 1) ? 3 * x + 1 : x >> 1;
		steps++;
	}
	return steps;
}

static uint32_t gcd(uint32_t a, uint32_t b) {
	while (b) {
		uint32_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

static uint64_t work(uint32_t n) {
	uint64_t sum = 0;
	uint32_t longest = 0, best = 0;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t s = collatz(i);
		if (s > longest) {
			longest = s;
			best = i;
		}
	}
	sum = mix(sum, best);
	uint32_t g = 0;
	for (uint32_t i = 1; i < n; i++)
		g += gcd(i, n ^ (i * 7));
	sum = mix(sum, g);
	uint32_t ones = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = i * 2654435761u; v; v &= v - 1)
			ones++;
	return mix(sum, ones);
}

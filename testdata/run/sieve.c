// Primes: a sieve of bytes, a sieve of bits, and trial division.
#define FULL 12000000
#include "run.h"

static uint64_t work(uint32_t n) {
	uint8_t *composite = calloc(n, 1);
	uint32_t *set = calloc(n / 32 + 1, 4);
	uint64_t sum = 0;
	for (int r = 0; r < 4; r++) {
		uint32_t count = 0;
		memset(composite, 0, n);
		for (uint32_t i = 2; i < n; i++) {
			if (composite[i])
				continue;
			count++;
			for (uint64_t j = (uint64_t)i * i; j < n; j += i)
				composite[j] = 1;
		}
		sum = mix(sum, count);
	}
	for (uint32_t i = 3; i * i < n; i += 2) {
		if (set[i >> 5] >> (i & 31) & 1)
			continue;
		for (uint32_t j = i * i; j < n; j += 2 * i)
			set[j >> 5] |= 1u << (j & 31);
	}
	for (uint32_t i = 3; i < n; i += 2)
		if (!(set[i >> 5] >> (i & 31) & 1))
			sum += i;
	uint32_t found = 0;
	for (uint32_t i = 3; i < n / 8; i += 2) {
		uint32_t d = 3;
		while (d * d <= i && i % d)
			d += 2;
		found += d * d > i;
	}
	return mix(sum, found);
}

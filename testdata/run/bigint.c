// Big integers of 32-bit limbs: a factorial, digits of e, and a power modulo
// a number by Montgomery's products.
#define FULL 5000
#include "run.h"

enum { LIMBS = 4096, MOD = 32 };
static uint32_t fact[LIMBS], digits[LIMBS];

static uint32_t times(uint32_t *x, uint32_t n, uint32_t m) {
	uint64_t carry = 0;
	for (uint32_t i = 0; i < n; i++) {
		carry += (uint64_t)x[i] * m;
		x[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry && n < LIMBS)
		x[n++] = (uint32_t)carry;
	return n;
}

static uint32_t divide(uint32_t *x, uint32_t n, uint32_t d) {
	uint64_t rest = 0;
	for (uint32_t i = n; i-- > 0;) {
		rest = rest << 32 | x[i];
		x[i] = (uint32_t)(rest / d);
		rest %= d;
	}
	return (uint32_t)rest;
}

static void montgomery(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *m, uint32_t inv) {
	uint32_t t[MOD + 2] = {0};
	for (int i = 0; i < MOD; i++) {
		uint64_t c = 0;
		for (int j = 0; j < MOD; j++) {
			c += (uint64_t)a[j] * b[i] + t[j];
			t[j] = (uint32_t)c;
			c >>= 32;
		}
		c += t[MOD];
		t[MOD] = (uint32_t)c;
		t[MOD + 1] = (uint32_t)(c >> 32);
		uint32_t q = t[0] * inv;
		c = ((uint64_t)q * m[0] + t[0]) >> 32;
		for (int j = 1; j < MOD; j++) {
			c += (uint64_t)q * m[j] + t[j];
			t[j - 1] = (uint32_t)c;
			c >>= 32;
		}
		c += t[MOD];
		t[MOD - 1] = (uint32_t)c;
		t[MOD] = t[MOD + 1] + (uint32_t)(c >> 32);
	}
	int64_t borrow = 0;
	uint32_t r[MOD];
	for (int j = 0; j < MOD; j++) {
		borrow += (int64_t)t[j] - m[j];
		r[j] = (uint32_t)borrow;
		borrow >>= 32;
	}
	memcpy(out, t[MOD] || !borrow ? r : t, sizeof r);
}

static uint64_t work(uint32_t n) {
	uint64_t sum = 0;
	uint32_t size = 1;
	fact[0] = 1;
	for (uint32_t i = 2; i <= n; i++)
		size = times(fact, size, i);
	for (uint32_t i = 0; i < size; i++)
		sum = mix(sum, fact[i]);
	for (int k = 0; k < 300; k++)
		sum = mix(sum, divide(fact, size, 1000000007));
	// e - 2 in base 2^32: x = (x + 1) / k from the far end of the series.
	uint32_t len = n / 10 + 2;
	for (uint32_t k = n; k >= 2; k--) {
		digits[len] = 1;
		divide(digits, len + 1, k);
	}
	for (uint32_t i = 0; i < len; i++)
		sum = mix(sum, digits[i]);
	uint32_t seed = 11, m[MOD], x[MOD], y[MOD], inv = 1;
	for (int i = 0; i < MOD; i++)
		m[i] = next(&seed), x[i] = next(&seed), y[i] = next(&seed);
	m[0] |= 1, m[MOD - 1] |= 0x80000000;
	for (int i = 0; i < 5; i++)
		inv *= 2 - m[0] * inv;
	inv = -inv;
	for (uint32_t i = 0; i < n * 12; i++) {
		montgomery(x, x, x, m, inv);
		if (i * 2654435761u >> 31)
			montgomery(x, x, y, m, inv);
	}
	for (int i = 0; i < MOD; i++)
		sum = mix(sum, x[i]);
	return sum;
}

// Memory moved about: copies by bytes, words and double words, a reversal, a
// transposition, a gather, and the library's memmove and memset.
#define FULL 400
#include "run.h"

enum { SIZE = 1 << 19 };
static uint8_t a[SIZE], b[SIZE];
static uint32_t index[SIZE / 4];

static uint64_t work(uint32_t n) {
	uint32_t seed = 99;
	for (uint32_t i = 0; i < SIZE; i++)
		a[i] = (uint8_t)next(&seed);
	for (uint32_t i = 0; i < SIZE / 4; i++)
		index[i] = next(&seed) % (SIZE / 4);
	volatile uint8_t *vb = b;
	uint64_t sum = 0;
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t i = 0; i < SIZE; i++)
			vb[i] = a[i];
		for (uint32_t i = 0; i < SIZE / 8; i++)
			((volatile uint64_t *)a)[i] = ((uint64_t *)b)[i] + r;
		for (uint32_t i = 0, j = SIZE / 4 - 1; i < j; i++, j--) {
			uint32_t t = ((uint32_t *)a)[i];
			((uint32_t *)a)[i] = ((uint32_t *)a)[j];
			((uint32_t *)a)[j] = t;
		}
		for (uint32_t i = 0; i < 512; i++)
			for (uint32_t j = 0; j < 256; j++)
				((uint16_t *)b)[j * 512 + i] = ((uint16_t *)a)[i * 256 + j];
		for (uint32_t i = 0; i < SIZE / 4; i++)
			((uint32_t *)b)[i] ^= ((uint32_t *)a)[index[i]];
		memmove(a + 1, b, SIZE - 1);
		memset(b + (r & 1023), (int)r, 1000);
		memmove(b, b + 4096, SIZE - 4096);
		sum = mix(sum, ((uint64_t *)b)[r % (SIZE / 8)]);
	}
	for (uint32_t i = 0; i < SIZE; i += 8)
		sum = mix(sum, *(uint64_t *)(a + i));
	return sum;
}

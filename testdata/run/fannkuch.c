// The most flips of prefixes that any permutation of n numbers needs until 0
// comes first.
#define FULL 10
#include "run.h"

static uint64_t work(uint32_t n) {
	int perm[16], flip[16], count[16];
	if (n > 16 || n < 2)
		return 0;
	int most = 0, checksum = 0, sign = 1, size = (int)n;
	for (int i = 0; i < size; i++)
		perm[i] = i, count[i] = 0;
	for (;;) {
		if (perm[0]) {
			memcpy(flip, perm, sizeof flip);
			int flips = 0;
			for (int first = flip[0]; first; first = flip[0]) {
				for (int lo = 0, hi = first; lo < hi; lo++, hi--) {
					int t = flip[lo];
					flip[lo] = flip[hi], flip[hi] = t;
				}
				flips++;
			}
			if (flips > most)
				most = flips;
			checksum += sign * flips;
		}
		sign = -sign;
		int i = 1;
		for (; i < size; i++) {
			int first = perm[0];
			for (int j = 0; j < i; j++)
				perm[j] = perm[j + 1];
			perm[i] = first;
			if (++count[i] <= i)
				break;
			count[i] = 0;
		}
		if (i == size)
			return mix(mix(0, (uint32_t)most), (uint32_t)checksum);
	}
}

// Quicksort, heap sort and merge sort of 32-bit numbers, and qsort with a
// comparison through a pointer.
#define FULL 700000
#include "run.h"

static void quick(int32_t *a, int32_t lo, int32_t hi) {
	while (hi - lo > 12) {
		int32_t p = a[lo + (hi - lo) / 2], i = lo - 1, j = hi + 1;
		for (;;) {
			do i++; while (a[i] < p);
			do j--; while (a[j] > p);
			if (i >= j)
				break;
			int32_t t = a[i];
			a[i] = a[j], a[j] = t;
		}
		if (j - lo < hi - j) {
			quick(a, lo, j);
			lo = j + 1;
		} else {
			quick(a, j + 1, hi);
			hi = j;
		}
	}
	for (int32_t i = lo + 1; i <= hi; i++) {
		int32_t v = a[i], j = i;
		for (; j > lo && a[j - 1] > v; j--)
			a[j] = a[j - 1];
		a[j] = v;
	}
}

static void sift(int32_t *a, uint32_t i, uint32_t n) {
	int32_t v = a[i];
	for (uint32_t c; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && a[c + 1] > a[c])
			c++;
		if (a[c] <= v)
			break;
		a[i] = a[c];
	}
	a[i] = v;
}

static void heap(int32_t *a, uint32_t n) {
	for (uint32_t i = n / 2; i-- > 0;)
		sift(a, i, n);
	for (uint32_t i = n; i-- > 1;) {
		int32_t t = a[0];
		a[0] = a[i], a[i] = t;
		sift(a, 0, i);
	}
}

static void merge(int32_t *a, int32_t *tmp, uint32_t n) {
	for (uint32_t w = 1; w < n; w *= 2) {
		for (uint32_t lo = 0; lo < n; lo += 2 * w) {
			uint32_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n;
			uint32_t i = lo, j = mid, k = lo;
			while (i < mid && j < hi)
				tmp[k++] = a[i] <= a[j] ? a[i++] : a[j++];
			while (i < mid)
				tmp[k++] = a[i++];
			while (j < hi)
				tmp[k++] = a[j++];
		}
		int32_t *t = a;
		a = tmp, tmp = t;
	}
}

static int descending(const void *x, const void *y) {
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
	return (a < b) - (a > b);
}

static void fill(int32_t *a, uint32_t n, uint32_t seed) {
	for (uint32_t i = 0; i < n; i++)
		a[i] = (int32_t)next(&seed);
}

static uint64_t check(uint64_t sum, const int32_t *a, uint32_t n) {
	for (uint32_t i = 0; i < n; i += 97)
		sum = mix(sum, (uint32_t)a[i]);
	return sum;
}

static uint64_t work(uint32_t n) {
	int32_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
	if (!a || !b)
		return 0;
	uint64_t sum = 0;
	fill(a, n, 1);
	quick(a, 0, (int32_t)n - 1);
	sum = check(sum, a, n);
	fill(a, n, 2);
	heap(a, n);
	sum = check(sum, a, n);
	fill(a, n, 3);
	merge(a, b, n);
	sum = check(check(sum, a, n), b, n);
	fill(a, n, 4);
	qsort(a, n / 2, sizeof *a, descending);
	return check(sum, a, n);
}

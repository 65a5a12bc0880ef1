// Products of square matrices: doubles in row order and through a transposed
// copy, floats, and 32-bit integers.
#define FULL 400
#include "run.h"

enum { MAX = 448 };
static double a[MAX][MAX], b[MAX][MAX], c[MAX][MAX], t[MAX][MAX];
static float fa[MAX][MAX], fb[MAX][MAX], fc[MAX][MAX];
static int32_t ia[MAX][MAX], ib[MAX][MAX], ic[MAX][MAX];

static uint64_t work(uint32_t n) {
	if (n > MAX)
		n = MAX;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			a[i][j] = (double)(i * 3 + j) / (n + 1), b[i][j] = (double)(i ^ j) / n;
			fa[i][j] = (float)a[i][j], fb[i][j] = (float)b[i][j];
			ia[i][j] = (int32_t)(i * j + 7), ib[i][j] = (int32_t)(i - j);
		}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			double s = 0;
			for (uint32_t k = 0; k < n; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			t[j][i] = b[i][j];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			double s = 0;
			for (uint32_t k = 0; k < n; k++)
				s += c[i][k] * t[j][k];
			a[i][j] = s;
		}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			float f = fa[i][k];
			int32_t x = ia[i][k];
			for (uint32_t j = 0; j < n; j++) {
				fc[i][j] += f * fb[k][j];
				ic[i][j] += x * ib[k][j];
			}
		}
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			sum = mix(sum, bits(a[i][j]) ^ bits(fc[i][j]) ^ (uint32_t)ic[i][j]);
	return sum;
}

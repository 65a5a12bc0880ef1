// Linear algebra: a Jacobi stencil in two dimensions, gemver, and the
// Floyd-Warshall shortest paths.
#define FULL 340
#include "run.h"

enum { MAX = 384 };
static double a[MAX][MAX], b[MAX][MAX], x[MAX], y[MAX], z[MAX], w[MAX];
static int32_t path[MAX][MAX];

static uint64_t work(uint32_t n) {
	if (n > MAX)
		n = MAX;
	for (uint32_t i = 0; i < n; i++) {
		x[i] = i * 0.5, y[i] = (i + 1.0) / n, z[i] = 1.0 / (i + 3), w[i] = 0;
		for (uint32_t j = 0; j < n; j++) {
			a[i][j] = b[i][j] = (double)(i * j % n) / n;
			path[i][j] = (int32_t)((i * 7 + j * 13) % 97 + 1);
		}
	}
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t i = 1; i + 1 < n; i++)
			for (uint32_t j = 1; j + 1 < n; j++)
				b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
		for (uint32_t i = 1; i + 1 < n; i++)
			for (uint32_t j = 1; j + 1 < n; j++)
				a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
	}
	for (uint32_t r = 0; r < n / 2; r++) {
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				a[i][j] += x[i] * y[j] * 1e-3 + z[i] * y[j] * 1e-4;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				w[i] += 1e-6 * a[j][i] * z[j];
		for (uint32_t i = 0; i < n; i++) {
			double s = 0;
			for (uint32_t j = 0; j < n; j++)
				s += a[i][j] * w[j];
			z[i] = z[i] * 0.5 + s * 1e-7;
		}
	}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++) {
				int32_t d = path[i][k] + path[k][j];
				if (d < path[i][j])
					path[i][j] = d;
			}
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			sum = mix(sum, bits(a[i][j]) ^ (uint32_t)path[i][j]);
	return mix(sum, bits(w[n / 2]) ^ bits(z[n / 3]));
}

// The spectral norm of an endless matrix, by the power method.
#define FULL 1500
#include "run.h"

enum { MAX = 2000 };
static double u[MAX], v[MAX], t[MAX];

static double at(uint32_t i, uint32_t j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }

static void times(const double *x, double *y, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		double s = 0;
		for (uint32_t j = 0; j < n; j++)
			s += at(i, j) * x[j];
		y[i] = s;
	}
}

static void transposed(const double *x, double *y, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		double s = 0;
		for (uint32_t j = 0; j < n; j++)
			s += at(j, i) * x[j];
		y[i] = s;
	}
}

static uint64_t work(uint32_t n) {
	if (n > MAX)
		n = MAX;
	for (uint32_t i = 0; i < n; i++)
		u[i] = 1;
	for (int r = 0; r < 12; r++) {
		times(u, t, n);
		transposed(t, v, n);
		times(v, t, n);
		transposed(t, u, n);
	}
	double uv = 0, vv = 0;
	for (uint32_t i = 0; i < n; i++)
		uv += u[i] * v[i], vv += v[i] * v[i];
	return mix(mix(0, bits(__builtin_sqrt(uv / vv))), bits(u[n / 2]));
}

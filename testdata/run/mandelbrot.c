// The Mandelbrot set in doubles and in floats, and a fixed-point version.
#define FULL 720
#include "run.h"

static uint32_t escape(double cr, double ci) {
	double x = 0, y = 0, x2 = 0, y2 = 0;
	uint32_t i = 0;
	for (; i < 200 && x2 + y2 < 4; i++) {
		y = 2 * x * y + ci;
		x = x2 - y2 + cr;
		x2 = x * x, y2 = y * y;
	}
	return i;
}

static uint32_t escapef(float cr, float ci) {
	float x = 0, y = 0, x2 = 0, y2 = 0;
	uint32_t i = 0;
	for (; i < 200 && x2 + y2 < 4; i++) {
		y = 2 * x * y + ci;
		x = x2 - y2 + cr;
		x2 = x * x, y2 = y * y;
	}
	return i;
}

static uint32_t escapei(int32_t cr, int32_t ci) {
	int64_t x = 0, y = 0;
	uint32_t i = 0;
	for (; i < 200; i++) {
		int64_t x2 = x * x >> 24, y2 = y * y >> 24;
		if (x2 + y2 >= 4 << 24)
			break;
		y = (x * y >> 23) + ci;
		x = x2 - y2 + cr;
	}
	return i;
}

static uint64_t work(uint32_t n) {
	uint64_t sum = 0;
	for (uint32_t row = 0; row < n; row++) {
		uint32_t line = 0;
		for (uint32_t col = 0; col < n; col++) {
			double r = 3.0 * col / n - 2, i = 2.0 * row / n - 1;
			line += escape(r, i) + escapef((float)r, (float)i) * 3 + escapei((int32_t)(r * (1 << 24)), (int32_t)(i * (1 << 24))) * 5;
		}
		sum = mix(sum, line);
	}
	return sum;
}

// Five bodies under each other's gravity for n steps.
#define FULL 4000000
#include "run.h"

struct body {
	double x, y, z, vx, vy, vz, mass;
};

static struct body bodies[5] = {
	{0, 0, 0, 0, 0, 0, 39.5},
	{4.84, -1.16, -0.103, 0.606, 2.81, -0.0252, 0.0377},
	{8.34, 4.12, -0.403, -1.01, 1.82, 0.00841, 0.0113},
	{12.9, -15.1, -0.223, 1.08, 0.868, -0.0108, 0.00172},
	{15.4, -25.9, 0.179, 0.979, 0.594, -0.0347, 0.00203},
};

static void step(struct body *b, int n, double dt) {
	for (int i = 0; i < n; i++) {
		struct body *p = &b[i];
		for (int j = i + 1; j < n; j++) {
			struct body *q = &b[j];
			double dx = p->x - q->x, dy = p->y - q->y, dz = p->z - q->z;
			double d2 = dx * dx + dy * dy + dz * dz;
			double m = dt / (d2 * __builtin_sqrt(d2));
			p->vx -= dx * q->mass * m, p->vy -= dy * q->mass * m, p->vz -= dz * q->mass * m;
			q->vx += dx * p->mass * m, q->vy += dy * p->mass * m, q->vz += dz * p->mass * m;
		}
	}
	for (int i = 0; i < n; i++)
		b[i].x += dt * b[i].vx, b[i].y += dt * b[i].vy, b[i].z += dt * b[i].vz;
}

static uint64_t work(uint32_t n) {
	for (uint32_t i = 0; i < n; i++)
		step(bodies, 5, 0.001);
	uint64_t sum = 0;
	for (int i = 0; i < 5; i++)
		sum = mix(mix(mix(sum, bits(bodies[i].x)), bits(bodies[i].y)), bits(bodies[i].vz));
	return sum;
}

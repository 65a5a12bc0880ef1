// Calls through pointers: a table of small functions of one type, and objects
// with methods.
#define FULL 14000000
#include "run.h"

typedef uint32_t fn(uint32_t, uint32_t);

static uint32_t add(uint32_t a, uint32_t b) { return a + b; }
static uint32_t sub(uint32_t a, uint32_t b) { return a - b; }
static uint32_t exc(uint32_t a, uint32_t b) { return a ^ b; }
static uint32_t rot(uint32_t a, uint32_t b) { return a << (b & 31) | a >> (-b & 31); }
static uint32_t mul(uint32_t a, uint32_t b) { return a * (b | 1); }
static uint32_t min(uint32_t a, uint32_t b) { return a < b ? a + 1 : b; }
static uint32_t ave(uint32_t a, uint32_t b) { return (a & b) + ((a ^ b) >> 1); }
static uint32_t shr(uint32_t a, uint32_t b) { return a + (b >> 3); }

static fn *volatile table[8] = {add, sub, exc, rot, mul, min, ave, shr};

struct shape {
	uint32_t (*area)(const struct shape *);
	void (*grow)(struct shape *, uint32_t);
	uint32_t w, h;
};

static uint32_t box(const struct shape *s) { return s->w * s->h; }
static uint32_t tri(const struct shape *s) { return s->w * s->h / 2; }
static void wider(struct shape *s, uint32_t d) { s->w += d; }
static void taller(struct shape *s, uint32_t d) { s->h += d & 7; }

static uint64_t work(uint32_t n) {
	uint32_t x = 1, y = 12345;
	for (uint32_t i = 0; i < n; i++) {
		y = y * 1103515245 + 12345;
		x = table[(y >> 16) & 7](x, y);
	}
	struct shape shapes[64];
	for (uint32_t i = 0; i < 64; i++)
		shapes[i] = (struct shape){i & 1 ? box : tri, i & 2 ? wider : taller, i, i + 1};
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct shape *s = &shapes[(i * 7) & 63];
		s->grow(s, i & 3);
		sum += s->area(s);
	}
	return mix(mix(0, x), sum);
}

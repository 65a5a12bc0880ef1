// Recursion: Fibonacci numbers, Takeuchi's and Ackermann's functions, the
// towers of Hanoi, queens on a board.
#define FULL 37
#include "run.h"

static uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int32_t tak(int32_t x, int32_t y, int32_t z) {
	return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z;
}

static uint32_t ack(uint32_t m, uint32_t n) {
	return !m ? n + 1 : !n ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}

static uint64_t moved;

static void hanoi(uint32_t n, uint32_t from, uint32_t to, uint32_t over) {
	if (!n)
		return;
	hanoi(n - 1, from, over, to);
	moved = moved * 3 + from * 4 + to;
	hanoi(n - 1, over, to, from);
}

static uint32_t queens(uint32_t all, uint32_t cols, uint32_t left, uint32_t right) {
	if (cols == all)
		return 1;
	uint32_t found = 0;
	for (uint32_t free = all & ~(cols | left | right); free; free &= free - 1) {
		uint32_t bit = free & -free;
		found += queens(all, cols | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return found;
}

static uint64_t work(uint32_t n) {
	uint64_t sum = mix(0, fib(n));
	sum = mix(sum, (uint32_t)tak((int32_t)n / 2 + 2, (int32_t)n / 3, (int32_t)n / 6));
	sum = mix(sum, ack(2, n * 24));
	hanoi(n * 3 / 5, 0, 1, 2);
	sum = mix(sum, moved);
	return mix(sum, queens((1u << (n / 3)) - 1, 0, 0, 0));
}

// run.h holds what every program of this folder shares: its arguments and the
// line it prints. A program defines FULL, the size of a whole run, before it
// includes this file, and work, which does the run and returns a checksum.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t work(uint32_t n);

// mix adds a value to a checksum; the order of the values counts.
static inline uint64_t mix(uint64_t sum, uint64_t v) {
	sum ^= v;
	sum *= 0x9e3779b97f4a7c15u;
	return sum ^ (sum >> 29);
}

// bits is the representation of a double, so that no digit goes unchecked.
static inline uint64_t bits(double d) {
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return u;
}

// next is a small generator; the same numbers on every engine.
static inline uint32_t next(uint32_t *seed) {
	uint32_t x = *seed;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *seed = x;
}

// main prints 16 hexadecimal digits without printf, whose code would be most
// of every module.
int main(int argc, char **argv) {
	uint32_t n = FULL;
	if (argc > 1) {
		n = 0;
		for (const char *p = argv[1]; *p >= '0' && *p <= '9'; p++)
			n = n * 10 + (uint32_t)(*p - '0');
	}
	uint64_t sum = work(n);
	char line[17];
	for (int i = 15; i >= 0; i--, sum >>= 4)
		line[i] = "0123456789abcdef"[sum & 15];
	line[16] = '\n';
	return write(1, line, sizeof line) == sizeof line ? 0 : 1;
}

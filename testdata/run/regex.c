// A matcher of regular expressions: a backtracking one on the pattern's text,
// and a set of states that steps over the text once.
#define FULL 4
#include "run.h"

static int here(const char *re, const char *s);

static int single(const char *re, char c, uint32_t *size) {
	if (*re == '[') {
		int hit = 0, not = re[1] == '^';
		uint32_t i = 1 + (uint32_t)not;
		for (; re[i] != ']'; i++) {
			if (re[i + 1] == '-') {
				hit |= c >= re[i] && c <= re[i + 2];
				i += 2;
			} else {
				hit |= c == re[i];
			}
		}
		*size = i + 1;
		return c && hit != not;
	}
	*size = 1;
	return c && (*re == '.' || *re == c);
}

static int star(const char *re, const char *rest, const char *s, int least) {
	const char *p = s;
	uint32_t size;
	while (single(re, *p, &size))
		p++;
	for (; p - s >= least; p--)
		if (here(rest, p))
			return 1;
	return 0;
}

static int here(const char *re, const char *s) {
	for (;;) {
		if (!*re)
			return 1;
		if (*re == '$' && !re[1])
			return !*s || *s == '\n';
		uint32_t size;
		int hit = single(re, *s, &size);
		switch (re[size]) {
		case '*': return star(re, re + size + 1, s, 0);
		case '+': return hit && star(re, re + size + 1, s, 1);
		case '?':
			if (hit && here(re + size + 1, s + 1))
				return 1;
			re += size + 1;
			continue;
		}
		if (!hit)
			return 0;
		re += size, s++;
	}
}

// states runs a pattern of letters, dots and stars as bits of a word.
static uint32_t states(const char *re, const char *s, uint32_t n) {
	uint64_t letter[128] = {0}, any = 0, loops = 0, final;
	uint32_t k = 0;
	for (const char *p = re; *p; p++) {
		if (*p == '*') {
			loops |= 1ull << (k - 1);
			continue;
		}
		if (*p == '.')
			any |= 1ull << k;
		else
			letter[(uint8_t)*p & 127] |= 1ull << k;
		k++;
	}
	final = 1ull << k;
	uint32_t found = 0;
	uint64_t now = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t skip = now & loops;
		while (skip) {
			now |= skip << 1;
			skip = (skip << 1) & loops & ~skip;
		}
		uint64_t hit = now & (any | letter[(uint8_t)s[i] & 127]);
		now = 1 | (hit & ~loops) << 1 | (hit & loops);
		if (now & final)
			found++;
	}
	return found;
}

static const char *patterns[] = {"[a-f]+x[0-9]?y", "q.*z$", "ab*c*d[^e]f", "[0-9]+[a-z]*[0-9]+$", "hel+o", "....a....b", "[xyz][xyz][xyz]", "a?b?c?d?efg"};
static char text[32769];

static uint64_t work(uint32_t n) {
	uint32_t seed = 2024;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < sizeof text - 1; i++)
		text[i] = i % 61 == 60 ? '\n' : "abcdefghxyz0123qlo"[next(&seed) % 18];
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
			uint32_t found = 0;
			for (uint32_t i = 0; i < sizeof text - 1; i++)
				found += (uint32_t)here(patterns[p], text + i);
			sum = mix(sum, found);
		}
		sum = mix(sum, states("a.*b.c*d", text, sizeof text - 1));
		sum = mix(sum, states("x*y*z*l.o", text, sizeof text - 1));
		text[next(&seed) % (sizeof text - 1)] = 'a';
	}
	return sum;
}

// Strings: a text is made from words, split, counted, searched, turned to
// upper case, compared and joined again.
#define FULL 40
#include "run.h"

static const char *words[] = {"the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "while",
	"compilers", "read", "bytes", "and", "write", "machine", "code", "without", "looking", "back"};
enum { WORDS = sizeof words / sizeof words[0], SIZE = 1 << 18 };
static char text[SIZE + 16], copy[SIZE + 16];

static uint32_t length(const char *s) {
	const char *p = s;
	while (*p)
		p++;
	return (uint32_t)(p - s);
}

static int32_t find(const char *s, const char *what, uint32_t size) {
	for (int32_t i = 0; s[i]; i++) {
		uint32_t k = 0;
		while (k < size && s[i + (int32_t)k] == what[k])
			k++;
		if (k == size)
			return i;
	}
	return -1;
}

static uint32_t hash(const char *s, uint32_t n) {
	uint32_t h = 2166136261u;
	while (n--)
		h = (h ^ (uint8_t)*s++) * 16777619u;
	return h;
}

static uint64_t work(uint32_t n) {
	uint32_t seed = 5, size = 0;
	while (size < SIZE - 16) {
		const char *w = words[next(&seed) % WORDS];
		uint32_t k = length(w);
		memcpy(text + size, w, k);
		size += k;
		text[size++] = next(&seed) % 9 ? ' ' : '\n';
	}
	text[size] = 0;
	uint64_t sum = 0;
	uint32_t counts[WORDS] = {0};
	for (uint32_t r = 0; r < n; r++) {
		uint32_t lines = 0, vowels = 0, hashes = 0;
		for (char *p = text; *p; p++) {
			if (*p == '\n')
				lines++;
			switch (*p | 32) {
			case 'a': case 'e': case 'i': case 'o': case 'u': vowels++;
			}
		}
		for (char *p = text; *p;) {
			char *q = p;
			while (*q > ' ')
				q++;
			hashes += hash(p, (uint32_t)(q - p));
			for (uint32_t w = 0; w < WORDS; w++)
				if (!strncmp(p, words[w], (size_t)(q - p)) && !words[w][q - p]) {
					counts[w]++;
					break;
				}
			p = *q ? q + 1 : q;
		}
		char *to = copy;
		for (const char *p = text; *p; p++)
			*to++ = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
		*to = 0;
		for (uint32_t i = 0, j = (uint32_t)(to - copy); i < j; i++) {
			char t = copy[--j];
			copy[j] = copy[i], copy[i] = t;
		}
		sum = mix(sum, (uint64_t)lines << 32 | vowels);
		sum = mix(sum, hashes + (uint32_t)find(copy, "KCAB GNIKOOL TUOHTIW XOF", 24));
		sum = mix(sum, strlen(copy) + (uint32_t)strcmp(copy, text));
		text[next(&seed) % size] = 'a' + (char)(next(&seed) % 26);
	}
	for (uint32_t i = 0; i < WORDS; i++)
		sum = mix(sum, counts[i]);
	return sum;
}

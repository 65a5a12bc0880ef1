// A hash table with open addressing and one with chains: insertions, look-ups,
// deletions and growth.
#define FULL 1000000
#include "run.h"

struct slot {
	uint64_t key;
	uint32_t value;
	uint32_t used; // 0 free, 1 taken, 2 deleted
};

static struct slot *slots;
static uint32_t room, taken;

static uint32_t hash(uint64_t k) {
	k ^= k >> 33;
	k *= 0xff51afd7ed558ccd;
	return (uint32_t)(k ^ (k >> 32));
}

static struct slot *lookup(uint64_t key) {
	for (uint32_t i = hash(key) & (room - 1);; i = (i + 1) & (room - 1)) {
		if (!slots[i].used || (slots[i].used == 1 && slots[i].key == key))
			return &slots[i];
	}
}

static void put(uint64_t key, uint32_t value) {
	if (taken * 2 >= room) {
		struct slot *old = slots;
		uint32_t n = room;
		room *= 2, taken = 0;
		slots = calloc(room, sizeof *slots);
		for (uint32_t i = 0; i < n; i++)
			if (old[i].used == 1) {
				*lookup(old[i].key) = old[i];
				taken++;
			}
		free(old);
	}
	struct slot *s = lookup(key);
	if (!s->used) {
		s->key = key, s->used = 1;
		taken++;
	}
	s->value += value;
}

struct entry {
	struct entry *more;
	uint32_t key, count;
};

static uint64_t work(uint32_t n) {
	room = 64;
	slots = calloc(room, sizeof *slots);
	uint32_t seed = 3;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		put((uint64_t)(next(&seed) % n) * 0x100000001, i);
	for (uint32_t r = 0; r < 4; r++)
		for (uint32_t i = 0; i < n; i++) {
			struct slot *s = lookup((uint64_t)i * 0x100000001);
			if (s->used) {
				sum += s->value;
				if ((s->value & 15) == r)
					s->used = 2;
			}
		}
	static struct entry *buckets[4096];
	struct entry *pool = malloc(n * sizeof *pool);
	uint32_t used = 0;
	for (uint32_t i = 0; i < n * 3; i++) {
		uint32_t key = next(&seed) % 20000;
		struct entry **at = &buckets[hash(key) & 4095];
		while (*at && (*at)->key != key)
			at = &(*at)->more;
		if (!*at) {
			if (used == n)
				continue;
			*at = &pool[used++];
			(*at)->key = key, (*at)->count = 0, (*at)->more = 0;
		}
		(*at)->count++;
	}
	for (uint32_t i = 0; i < 4096; i++)
		for (struct entry *e = buckets[i]; e; e = e->more)
			sum = mix(sum, (uint64_t)e->key << 32 | e->count);
	return mix(sum, taken);
}

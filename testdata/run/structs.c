// Structures by pointer: a binary search tree, doubly linked lists, an array
// of particles, structures passed and returned by value.
#define FULL 130000
#include "run.h"

struct node {
	struct node *left, *right;
	uint32_t key;
	uint16_t hits, depth;
	double weight;
};

struct link {
	struct link *before, *after;
	int32_t value;
	int8_t kind;
};

struct particle {
	float x, y, z, vx, vy, vz;
	int32_t life;
	uint8_t alive, kind;
	int16_t age;
};

struct point {
	int32_t x, y, z;
};

static struct node *insert(struct node **at, struct node *fresh) {
	uint16_t depth = 0;
	while (*at) {
		if ((*at)->key == fresh->key) {
			(*at)->hits++;
			return *at;
		}
		at = fresh->key < (*at)->key ? &(*at)->left : &(*at)->right;
		depth++;
	}
	fresh->depth = depth;
	return *at = fresh;
}

static __attribute__((noinline)) struct point cross(struct point a, struct point b) {
	return (struct point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static void simulate(struct particle *p, uint32_t n, uint32_t *seed) {
	for (uint32_t i = 0; i < n; i++, p++) {
		if (!p->alive) {
			if (next(seed) & 1)
				*p = (struct particle){0, 0, 0, (float)(i & 7), 1.5f, (float)(i & 3), 40, 1, (uint8_t)(i & 3), 0};
			continue;
		}
		p->vy -= 0.05f;
		p->x += p->vx * 0.1f, p->y += p->vy * 0.1f, p->z += p->vz * 0.1f;
		if (p->y < 0) {
			p->y = -p->y;
			p->vy *= -0.5f;
		}
		p->age++;
		if (--p->life == 0)
			p->alive = 0;
	}
}

static uint64_t work(uint32_t n) {
	struct node *nodes = calloc(n, sizeof *nodes), *root = 0;
	struct link *links = calloc(n + 1, sizeof *links);
	struct particle *cloud = calloc(1024, sizeof *cloud);
	if (!nodes || !links || !cloud)
		return 0;
	uint32_t seed = 17;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		nodes[i].key = next(&seed) % (2 * n);
		insert(&root, &nodes[i])->weight += i;
	}
	for (uint32_t r = 0; r < 8; r++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t key = next(&seed) % (2 * n);
			struct node *p = root;
			while (p && p->key != key)
				p = key < p->key ? p->left : p->right;
			if (p)
				sum += p->hits + p->depth + (uint64_t)p->weight;
		}
	struct link *head = &links[n];
	head->before = head->after = head;
	for (uint32_t i = 0; i < n; i++) {
		struct link *l = &links[i], *at = i & 1 ? head : head->before;
		l->value = (int32_t)next(&seed), l->kind = (int8_t)l->value;
		l->before = at, l->after = at->after;
		at->after->before = l, at->after = l;
	}
	for (uint32_t r = 0; r < 30; r++)
		for (struct link *l = head->after; l != head; l = l->after) {
			sum += (uint64_t)(l->kind > 0 ? l->value : l->kind);
			if ((l->value & 1023) == (int32_t)r && l->after != head) {
				l->after->before = l->before, l->before->after = l->after;
				l = l->before;
			}
		}
	for (uint32_t r = 0; r < n / 40; r++)
		simulate(cloud, 1024, &seed);
	for (uint32_t i = 0; i < 1024; i++)
		sum = mix(sum, bits(cloud[i].x + cloud[i].y) ^ (uint32_t)cloud[i].age);
	struct point p = {1, 2, 3}, q = {4, -5, 6};
	for (uint32_t i = 0; i < n * 40; i++) {
		struct point c = cross(p, q);
		p.x = q.x ^ (c.x & 0xff), p.y = q.y + (c.y & 0xf), p.z = q.z - (c.z & 0x3f);
		q.x = c.x >> 3 | 1, q.y = c.y >> 2, q.z = (int32_t)i;
	}
	return mix(sum, (uint64_t)(uint32_t)p.x << 32 | (uint32_t)(q.y + p.z));
}

// An interpreter of a small stack machine: one big switch in a loop.
#define FULL 3600000
#include "run.h"

enum op {
	PUSH, DUP, DROP, SWAP, OVER, LOAD, STORE, ADD, SUB, MUL, DIVU, AND, OR, XOR, SHL, SHR, NOT, NEG,
	LT, EQ, GT, JMP, JZ, JNZ, CALL, RET, INC, DEC, PEEK, POKE, ROT, HALT,
};

struct ins {
	uint8_t op;
	int32_t arg;
};

static int32_t cells[256];

static int32_t execute(const struct ins *code, uint64_t *count) {
	int32_t stack[64], vars[16] = {0};
	uint32_t rets[32];
	int32_t *sp = stack;
	uint32_t pc = 0, rp = 0;
	uint64_t steps = 0;
	for (;;) {
		struct ins in = code[pc++];
		int32_t t;
		steps++;
		switch (in.op) {
		case PUSH: *sp++ = in.arg; break;
		case DUP: sp[0] = sp[-1]; sp++; break;
		case DROP: sp--; break;
		case SWAP: t = sp[-1]; sp[-1] = sp[-2]; sp[-2] = t; break;
		case OVER: sp[0] = sp[-2]; sp++; break;
		case LOAD: *sp++ = vars[in.arg & 15]; break;
		case STORE: vars[in.arg & 15] = *--sp; break;
		case ADD: sp--; sp[-1] += sp[0]; break;
		case SUB: sp--; sp[-1] -= sp[0]; break;
		case MUL: sp--; sp[-1] = (int32_t)((uint32_t)sp[-1] * (uint32_t)sp[0]); break;
		case DIVU: sp--; sp[-1] = (int32_t)((uint32_t)sp[-1] / ((uint32_t)sp[0] | 1)); break;
		case AND: sp--; sp[-1] &= sp[0]; break;
		case OR: sp--; sp[-1] |= sp[0]; break;
		case XOR: sp--; sp[-1] ^= sp[0]; break;
		case SHL: sp--; sp[-1] = (int32_t)((uint32_t)sp[-1] << (sp[0] & 31)); break;
		case SHR: sp--; sp[-1] = (int32_t)((uint32_t)sp[-1] >> (sp[0] & 31)); break;
		case NOT: sp[-1] = ~sp[-1]; break;
		case NEG: sp[-1] = -sp[-1]; break;
		case LT: sp--; sp[-1] = sp[-1] < sp[0]; break;
		case EQ: sp--; sp[-1] = sp[-1] == sp[0]; break;
		case GT: sp--; sp[-1] = sp[-1] > sp[0]; break;
		case JMP: pc = (uint32_t)in.arg; break;
		case JZ: if (!*--sp) pc = (uint32_t)in.arg; break;
		case JNZ: if (*--sp) pc = (uint32_t)in.arg; break;
		case CALL: rets[rp++ & 31] = pc; pc = (uint32_t)in.arg; break;
		case RET: pc = rets[--rp & 31]; break;
		case INC: vars[in.arg & 15]++; break;
		case DEC: vars[in.arg & 15]--; break;
		case PEEK: sp[-1] = cells[sp[-1] & 255]; break;
		case POKE: sp -= 2; cells[sp[1] & 255] = sp[0]; break;
		case ROT: t = sp[-3]; sp[-3] = sp[-2]; sp[-2] = sp[-1]; sp[-1] = t; break;
		case HALT: *count += steps; return sp[-1];
		default: __builtin_trap();
		}
	}
}

// The program counts variable 0 down to 0; each round calls a subroutine that
// scrambles variable 1 and keeps it in a cell.
static struct ins program[] = {
	{PUSH, 0}, {STORE, 0},             // 0: the count, patched
	{PUSH, 12345}, {STORE, 1},         // 2
	{LOAD, 0}, {JZ, 18},               // 4: head of the loop
	{CALL, 20}, {LOAD, 1}, {LOAD, 0}, {AND, 0}, {PUSH, 3}, {LT, 0}, {JZ, 15}, // 6
	{LOAD, 2}, {STORE, 3},             // 13
	{DEC, 0}, {INC, 2}, {JMP, 4},      // 15
	{LOAD, 1}, {HALT, 0},              // 18
	{LOAD, 1}, {DUP, 0}, {PUSH, 13}, {SHL, 0}, {XOR, 0}, {DUP, 0}, {PUSH, 17}, {SHR, 0}, {XOR, 0}, // 20
	{DUP, 0}, {PUSH, 5}, {SHL, 0}, {XOR, 0}, {DUP, 0}, {STORE, 1},                                  // 29
	{LOAD, 0}, {PEEK, 0}, {ADD, 0}, {LOAD, 0}, {POKE, 0},                                           // 35
	{LOAD, 1}, {LOAD, 2}, {PUSH, 77}, {ROT, 0}, {MUL, 0}, {OVER, 0}, {SUB, 0}, {SWAP, 0}, {DROP, 0}, // 40
	{LOAD, 3}, {ADD, 0}, {STORE, 3}, {RET, 0},                                                      // 49
};

static uint64_t work(uint32_t n) {
	uint64_t sum = 0, steps = 0;
	program[0].arg = (int32_t)n;
	sum = mix(sum, (uint32_t)execute(program, &steps));
	for (int i = 0; i < 256; i++)
		sum = mix(sum, (uint32_t)cells[i]);
	return mix(sum, steps);
}

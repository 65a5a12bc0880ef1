// Counts the primes below n: loops, memory and a little arithmetic.
#define MAX 65536

static unsigned char composite[MAX];

int primes(int n) {
	int count = 0;
	if (n > MAX)
		n = MAX;
	for (int i = 2; i < n; i++) {
		if (composite[i])
			continue;
		count++;
		for (int j = 2 * i; j < n; j += i)
			composite[j] = 1;
	}
	return count;
}

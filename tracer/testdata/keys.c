/* Threads that hit markers with keys of every form, and count them themselves. With ROUNDS
 * each thread hits keys:hit that often; then it prints "KEY SMALL COUNT" for every
 * combination, the sum over threads, and "tid TID COUNT" for each thread. It waits for a line
 * of input before and after. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/sdt.h>

enum { KEYS = 5, SMALLS = 3, MAX = 64 };
static long rounds, counts[MAX][KEYS][SMALLS];
static long tids[MAX];
static volatile signed char small_in_memory[SMALLS] = {-1, 0, 1};

static void *work(void *arg)
{
	long me = (long)arg;

	tids[me] = syscall(SYS_gettid);
	for (long i = 0; i < rounds; i++) {
		long key = (i * 7 + me) % KEYS - 2;
		int small = (i / 3) % SMALLS;

		/* two sites of one marker: the same number in a register and in memory, of 8 and of 1 byte */
		if (i % 2)
			STAP_PROBE3(keys, hit, key, (signed char)small_in_memory[small], 7);
		else
			STAP_PROBE3(keys, hit, key, (long)small - 1, 7);
		STAP_PROBE1(keys, unique, i * MAX + me);
		counts[me][key + 2][small]++;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t threads[MAX];
	char line[16];

	rounds = atol(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	fgets(line, sizeof line, stdin);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], 0);
	for (int k = 0; k < KEYS; k++)
		for (int s = 0; s < SMALLS; s++) {
			long sum = 0;
			for (long i = 0; i < n; i++)
				sum += counts[i][k][s];
			printf("%d %d %ld\n", k - 2, s - 1, sum);
		}
	for (long i = 0; i < n; i++)
		printf("tid %ld %ld\n", tids[i], rounds);
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

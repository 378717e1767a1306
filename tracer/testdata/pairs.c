/* Threads that hit pairs:begin, wait, hit pairs:end, and time it themselves: inside of the
 * pair and around it, with the clock that tracers use. Each starts with an end that has no
 * begin, and ends with a begin that has no end. Waits for a line of input before and after;
 * prints "INNER OUTER" in nanoseconds for each pair, in between "done". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/sdt.h>

enum { MAX = 16 };
static long rounds;
static struct { long inner, outer; } *timed[MAX];

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Spins up to 1 ms and sleeps for longer, spread over four powers of ten. */
static void wait_for(long ns)
{
	long until = now() + ns;

	if (ns > 1000000) {
		struct timespec t = {0, ns};
		nanosleep(&t, 0);
	}
	while (now() < until)
		;
}

static void *work(void *arg)
{
	long me = (long)arg;

	STAP_PROBE2(pairs, end, 0, -1L);
	for (long i = 0; i < rounds; i++) {
		long id = me << 32 | i, before, first, last;

		before = now();
		STAP_PROBE1(pairs, begin, id);
		first = now();
		wait_for((long[]){500, 5000, 50000, 500000, 1500000}[i % 5] * (1 + i % 7 / 7.));
		last = now();
		STAP_PROBE2(pairs, end, (int)i, id);
		timed[me][i].outer = now() - before;
		timed[me][i].inner = last - first;
	}
	STAP_PROBE1(pairs, begin, -2L);
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
	for (long i = 0; i < n; i++) {
		timed[i] = calloc(rounds, sizeof *timed[i]);
		pthread_create(&threads[i], 0, work, (void *)i);
	}
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], 0);
	for (long i = 0; i < n; i++)
		for (long j = 0; j < rounds; j++)
			printf("%ld %ld\n", timed[i][j].inner, timed[i][j].outer);
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

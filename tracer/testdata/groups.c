/* Threads that hit groups:begin with a route and its name, wait, and hit groups:end with its status as the third
 * argument, and time it themselves as pairs.c does. Each ends with a begin that has no end. Waits for a line of input before and
 * after; prints "NAME STATUS INNER OUTER" in nanoseconds for each pair, in between "done". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/sdt.h>

enum { MAX = 16 };
static const char *const names[] = {"/", "/index", "/a/rather/long/path/that/is/longer/than/the/sixty-four/bytes/of/a/key"};
static long rounds;
static struct { long inner, outer; } *timed[MAX];

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *work(void *arg)
{
	long me = (long)arg;

	for (long i = 0; i < rounds; i++) {
		int route = i % 3, status = i % 4 ? 200 : -1;
		long before, first, last, until;

		before = now();
		STAP_PROBE2(groups, begin, route, names[route]);
		first = now();
		until = first + 2000 * (route + 1);
		while (now() < until)
			;
		last = now();
		STAP_PROBE3(groups, end, i, me, status);
		timed[me][i].outer = now() - before;
		timed[me][i].inner = last - first;
	}
	STAP_PROBE2(groups, begin, 9, "/open");
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
			printf("%s %d %ld %ld\n", names[j % 3], j % 4 ? 200 : -1, timed[i][j].inner, timed[i][j].outer);
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

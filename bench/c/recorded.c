/*
 * LTTng-UST's side of bench record: obeys "pass THREADS N", which passes a tracepoint N times on each of so many
 * pinned threads, and answers with the CPU nanoseconds of all.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "ust.h"

static long n;
static long long took[64];

static long long cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *pass(void *arg)
{
	long k = (long)arg;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(k, &set);
	sched_setaffinity(0, sizeof set, &set);
	long long before = cpu();
	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(bench, hit0, i, 0);
	took[k] = cpu() - before;
	return NULL;
}

int main(void)
{
	char line[128];
	long threads;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "pass %ld %ld", &threads, &n) != 2 || threads < 1 || threads > 64)
			return 1;
		pthread_t t[64];
		long long sum = 0;
		for (long k = 0; k < threads; k++)
			if (pthread_create(&t[k], NULL, pass, (void *)k))
				return 1;
		for (long k = 0; k < threads; k++) {
			pthread_join(t[k], NULL);
			sum += took[k];
		}
		printf("%lld\n", sum);
	}
	return 0;
}

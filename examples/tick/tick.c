/*
 * The program of "Uprobes: Support SDT markers having reference count": marker loop1 is
 * bare, marker loop2 stands behind its reference counter, which a tracer has to raise.
 *
 *	tick [ITERATIONS [MICROSECONDS]]
 *
 * runs the loop so many times (100) with a delay after each pass (1000000).
 *
 *	cc -O2 -o tick tick.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* With this every marker of the file refers to PROVIDER_NAME_semaphore. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* The reference counter of loop2, where tracers look for it. */
__extension__ unsigned short tick_loop2_semaphore __attribute__((section(".probes")));
#define TICK_LOOP2_ENABLED() __builtin_expect(*(volatile unsigned short *)&tick_loop2_semaphore, 0)

/* loop1 has none: the address of its counter is zero. */
extern unsigned short tick_loop1_semaphore __attribute__((visibility("hidden")));
__asm__(".set tick_loop1_semaphore, 0");

static void wait_for(long microseconds)
{
	struct timespec t = { microseconds / 1000000, microseconds % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	long iterations = argc > 1 ? atol(argv[1]) : 100;
	long delay = argc > 2 ? atol(argv[2]) : 1000000;
	int loop2 = 0;

	for (int i = 0; i < iterations; i++) {
		DTRACE_PROBE1(tick, loop1, i);
		if (TICK_LOOP2_ENABLED()) {
			DTRACE_PROBE1(tick, loop2, i);
			loop2++;
		}
		printf("hi: %d\n", i);
		fflush(stdout);
		if (delay > 0)
			wait_for(delay);
	}
	printf("loop1 %ld loop2 %d\n", iterations, loop2);
	return 0;
}

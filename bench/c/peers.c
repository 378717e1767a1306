/*
 * Other people's static tracing, in the same loops and under the same commands as bench/loops. Built
 * once for each form of marker: -DNOP and -DSEMAPHORE are sys/sdt.h's, -DUST is LTTng's.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#if defined(UST)
#include "ust.h"
#define MARK(k) lttng_ust_tracepoint(bench, hit##k, i, 0)
#define WORD(k) (void *)&lttng_ust_tracepoint_bench___hit##k.state
#elif defined(SEMAPHORE)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#define DECLARE(k) volatile unsigned short bench_hit##k##_semaphore __attribute__((section(".probes"), aligned(64)));
DECLARE(0) DECLARE(1) DECLARE(2) DECLARE(3) DECLARE(4) DECLARE(5) DECLARE(6) DECLARE(7)
#define MARK(k) do { if (__builtin_expect(bench_hit##k##_semaphore, 0)) DTRACE_PROBE2(bench, hit##k, i, 0); } while (0)
#define WORD(k) (void *)&bench_hit##k##_semaphore
#else
#include <sys/sdt.h>
#define MARK(k) DTRACE_PROBE2(bench, hit##k, i, 0)
#define WORD(k) (void *)&none
static long none;
#endif

/* Through a pointer: gcc would lay REP MOVS in line, which Go does not. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static uint64_t spent; /* ticks, in loops that time their passes themselves */
static char from[4096] __attribute__((aligned(64))), to[4096] __attribute__((aligned(64)));

static uint64_t ticks(void)
{
	_mm_lfence();
	uint64_t t = __rdtsc();
	_mm_lfence();
	return t;
}

static uint64_t flushed(void)
{
	_mm_clflush(WORD(0)); _mm_clflush(WORD(1)); _mm_clflush(WORD(2)); _mm_clflush(WORD(3));
	_mm_clflush(WORD(4)); _mm_clflush(WORD(5)); _mm_clflush(WORD(6)); _mm_clflush(WORD(7));
	_mm_mfence();
	return ticks();
}

/* The compiler is to believe that memory was read and written. */
#define KEEP __asm__ volatile("" ::: "memory")
#define COPY(k) copy(to + 512 * (k), from + 512 * (k), 512); KEEP
#define ALL(m) m(0); m(1); m(2); m(3); m(4); m(5); m(6); m(7)
#define BOTH(k) COPY(k); MARK(k)

/* Copies of a loop at every position of a cache line, seven bytes apart. */
#define AT(name, p, ...) \
	static __attribute__((noinline, aligned(32))) void name##p(long n) \
	{ __asm__ volatile(".skip 7 * " #p ", 0x90"); for (long i = 0; i < n; i++) { KEEP; __VA_ARGS__; } }
#define EIGHT(name, d, ...) AT(name, d##0, __VA_ARGS__) AT(name, d##1, __VA_ARGS__) AT(name, d##2, __VA_ARGS__) \
	AT(name, d##3, __VA_ARGS__) AT(name, d##4, __VA_ARGS__) AT(name, d##5, __VA_ARGS__) AT(name, d##6, __VA_ARGS__) AT(name, d##7, __VA_ARGS__)
#define LIST8(name, d) name##d##0, name##d##1, name##d##2, name##d##3, name##d##4, name##d##5, name##d##6, name##d##7
/* The positions are octal numbers to the assembler. */
#define LOOP(name, ...) \
	EIGHT(name, 00, __VA_ARGS__) EIGHT(name, 01, __VA_ARGS__) EIGHT(name, 02, __VA_ARGS__) EIGHT(name, 03, __VA_ARGS__) \
	EIGHT(name, 04, __VA_ARGS__) EIGHT(name, 05, __VA_ARGS__) EIGHT(name, 06, __VA_ARGS__) EIGHT(name, 07, __VA_ARGS__) \
	static void (*name[])(long) = { LIST8(name, 00), LIST8(name, 01), LIST8(name, 02), LIST8(name, 03), \
		LIST8(name, 04), LIST8(name, 05), LIST8(name, 06), LIST8(name, 07) };
#define COLD(name, ...) LOOP(name, uint64_t start = flushed(); __VA_ARGS__; spent += ticks() - start)

LOOP(empty, )
LOOP(empty1, MARK(0))
LOOP(empty8, ALL(MARK))
LOOP(whole, copy(to, from, 4096); KEEP)
LOOP(whole1, copy(to, from, 4096); KEEP; MARK(0))
LOOP(parts, ALL(COPY))
LOOP(parts8, ALL(BOTH))
COLD(coldEmpty, )
COLD(coldEmpty1, MARK(0))
COLD(coldEmpty8, ALL(MARK))
COLD(coldParts, ALL(COPY))
COLD(coldParts8, ALL(BOTH))

static const struct { const char *name; void (**run)(long); } loops[] = {
	{ "empty", empty }, { "empty1", empty1 }, { "empty8", empty8 }, { "whole", whole }, { "whole1", whole1 },
	{ "parts", parts }, { "parts8", parts8 }, { "coldEmpty", coldEmpty }, { "coldEmpty1", coldEmpty1 },
	{ "coldEmpty8", coldEmpty8 }, { "coldParts", coldParts }, { "coldParts8", coldParts8 },
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double rate(void)
{
	static double hz;
	if (hz == 0) {
		double start = now();
		uint64_t from = ticks();
		usleep(50000);
		hz = (ticks() - from) / (now() - start) * 1e9;
	}
	return hz;
}

int main(void)
{
	char line[128], word[16], name[64];
	long n;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, "ticks\n") == 0) {
			printf("%.0f\n", rate());
			continue;
		}
		size_t i = 0;
		if (sscanf(line, "%15s %63s %ld", word, name, &n) != 3 || strcmp(word, "time") != 0)
			return 1;
		while (i < sizeof loops / sizeof *loops && strcmp(loops[i].name, name) != 0)
			i++;
		if (i == sizeof loops / sizeof *loops)
			return 1;
		for (int c = 0; c < 64; c++) {
			spent = 0;
			double start = now();
			loops[i].run[c](n);
			double took = now() - start;
			printf("%.0f ", spent ? spent * 1e9 / rate() : took);
		}
		printf("\n");
	}
	return 0;
}

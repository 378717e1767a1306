#include "waymark/simple.h"

extern volatile long sink;
static int counter = 100;

static inline long inner(long n)
{
	long a = n + 5;
	WAYMARK_SIMPLE("l:other", "%ld %ld %d", n, a, counter);
	sink += a;
	return a ^ n;
}

__attribute__((noinline)) static long outer(long n, int k)
{
	long a = n * 7 + k;
	WAYMARK_SIMPLE("l:second", "%ld %d %ld %d", n, k, a, counter);
	sink += a;
	return a;
}

long second(long n, int k)
{
	counter += 2;
	return outer(inner(n), k + 1);
}

/* Two files of one program, for optimization at link time: each has a variable and functions that are called as the other's. */
#include "waymark/simple.h"

long second(long n, int k);
static int counter = 7;
volatile long sink;

static inline long inner(long v)
{
	sink += v;
	WAYMARK_SIMPLE("l:inner", "%ld %d", v, counter);
	return v + counter;
}

__attribute__((noinline)) static long outer(long n, int k)
{
	long a = n * 3;
	WAYMARK_SIMPLE("l:outer", "%ld %d %ld %d", n, k, a, counter);
	sink += a;
	counter++;
	return a + k + inner(n);
}

int main(int argc, char **argv)
{
	long r = 0;
	(void)argv;
	for (int i = 0; i < 3; i++)
		r += outer(i + argc, i) + second(i, argc + i);
	return r == 5;
}

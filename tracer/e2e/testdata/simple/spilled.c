/* A variable that clang puts on the stack: its debugging information has the address there for the value. */
#include <stdio.h>
#include "waymark/simple.h"

static volatile int sink;
static volatile long words[4] = {3, 5, 2, 6};

__attribute__((noinline)) static void clobber(long n)
{
	__asm__ __volatile__("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	sink += (int)n;
}

static long aside(long n, long p, int small, long q, long r)
{
	WAYMARK_SIMPLE_ANCHORED("c:aside", "%d", small);
	clobber(p);
	if (n > 0)
		return aside(n - 2, p, small, q, q ^ small) + 4;
	WAYMARK_SIMPLE("c:deep", "%ld", r);
	return p ^ small;
}

int main(void)
{
	long r = aside(3, words[2], (int)words[3], 0, words[0]);
	for (int i = 0; i < 2; i++)
		r += aside(words[0] + 1, 9, (int)words[1], 2, words[1]);
	printf("%ld\n", r);
	return 0;
}

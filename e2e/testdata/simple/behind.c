/* Functions of which clang's debugging information says things that are not so, or are only so behind the marker. */
#include <stdio.h>
#include "waymark/simple.h"

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

static long total;
static volatile int sink;
static volatile long words[4] = {3, 5, 2, 6};

NOINLINE static void clobber(long n)
{
	__asm__ __volatile__("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	sink += (int)n;
}

/* What is assigned behind the marker is computed ahead of it. */
NOINLINE static long countdown(int n)
{
	int left = n & 3;
	do {
		sink++;
		WAYMARK_SIMPLE("c:countdown", "%d", left);
	} while (--left > 0);
	return n;
}

INLINE long later(long to, long from)
{
	WAYMARK_SIMPLE("c:later", "%ld %ld", to, from);
	to = from;
	total += to;
	return 20;
}

/* clang makes a loop of the first call, straight code of the second, and has that end where the loop goes on. */
static long ending(int p, int n)
{
	for (int i = 0; i < 3; i++)
		clobber(p);
	WAYMARK_SIMPLE("c:ending", "%d %d", p, n);
	if (n <= 0)
		return p * 3;
	if (p & 1)
		return ending(p, n - 2);
	return ending(p, n - 2);
}

/* And puts small aside, of which it then says where, as if that were what. */
static long aside(long n, long p, int small, long q, long r)
{
	WAYMARK_SIMPLE_ANCHORED("c:aside", "%d", small);
	clobber(p);
	if (n > 0)
		return aside(n - 2, p, small, q, q ^ small) + 4;
	WAYMARK_SIMPLE("c:deep", "%ld", r);
	return p ^ small;
}

/* clang counts the first loop at its end, in the register that it says left is in; the second as the source does. */
NOINLINE static long counter(int n)
{
	int left = 4;
	while (left > 0) {
		left--;
		WAYMARK_SIMPLE_ANCHORED("c:counter", "%d", left);
		for (int i = 0; i < 4; i++)
			sink++;
	}
	for (int i = 0; i < n; i++) {
		WAYMARK_SIMPLE_ANCHORED("c:natural", "%d", i);
		sink += i;
	}
	return n;
}

int main(void)
{
	long r = 0;
	for (int i = 1; i < 4; i++)
		r += countdown(i) + counter(i);
	r += later(words[1], words[0]) + ending((int)words[2], 4) + ending(7, 5);
	r += aside(3, words[2], (int)words[3], 0, words[0]);
	for (int i = 0; i < 2; i++)
		r += aside(words[0] + 1, 9, (int)words[1], 2, words[1]);
	printf("%ld\n", r + total);
	return 0;
}

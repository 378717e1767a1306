/* Functions whose variables are in registers, on the stack, in pieces, folded, inlined and
 * clobbered, each with a simple marker. Builds as C and as C++. main's calls decide how often
 * each is passed: the test knows. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "waymark/simple.h"

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

enum color { RED, GREEN = 5, BLUE = -7 };
struct pair { int64_t x, y; };
struct small { int a; short b; char c; };
struct command {
	int len;
	char tag[8];
	enum color color;
	const char *name;
	struct command *next;
	unsigned three : 3;
	int five : 5;
	double weight;
	uint8_t bytes[4];
};

static long total;
int64_t exported = -1;
static __thread int perthread = 7;
static volatile int sink;
static void *volatile escape;

NOINLINE static void clobber(long n)
{
	__asm__ __volatile__("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	sink += (int)n;
}

NOINLINE static long registers(int a, long b, unsigned char c, short d, uint64_t e, int8_t f)
{
	long s = a * b + c;
	WAYMARK_SIMPLE("c:registers", "%d %ld %d %d %lu %d %ld", a, b, c, d, e, f, s);
	return s + d + (long)e + f;
}

NOINLINE static long stack(int n)
{
	int array[6];
	struct pair p = {n, n * 2};
	long far = n * 3;
	for (int i = 0; i < 6; i++)
		array[i] = n + i;
	escape = array;
	escape = &p;
	escape = &far;
	WAYMARK_SIMPLE("c:stack", "%d %ld", n, array, p, far);
	sink = array[n & 3];
	return far + p.x + ((int *)escape)[0];
}

NOINLINE static long pieces(struct pair p, struct small s)
{
	WAYMARK_SIMPLE("c:pieces", "%ld %ld %d %d %d", p.x, p.y, s.a, s.b, s.c);
	clobber(p.x);
	return p.x * p.y + s.a + s.b;
}

NOINLINE static long split(long n)
{
	struct pair local;
	local.x = n + 1;
	local.y = n * 5;
	clobber(n);
	WAYMARK_SIMPLE("c:split", "%ld %ld", local.x, local.y, n);
	return local.x ^ local.y;
}

NOINLINE static int folded(int n)
{
	const int k = 42;
	const char letter = 'q';
	int doubled = k * 2;
	enum color color = GREEN;
	WAYMARK_SIMPLE("c:folded", "%d %c %d %d %d", k, letter, doubled, color, n);
	return n + k;
}

INLINE int helper(int n, const char *why)
{
	int square = n * n;
	WAYMARK_SIMPLE("c:helper", "%d %s %d", n, why, square);
	return square + n;
}

NOINLINE static int caller_a(int n) { return helper(n, "a") + 1; }
NOINLINE static int caller_b(int n) { return helper(n + 1, "b") * helper(n + 2, "bb"); }

NOINLINE static long clobbered(int a, int b, int c)
{
	clobber(a + b);
	WAYMARK_SIMPLE("c:clobbered", "%d %d %d", a, b, c);
	clobber(c);
	return c;
}

NOINLINE static long loop(const int *values, int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
		WAYMARK_SIMPLE("c:loop", "%d %ld %d", i, sum, n);
		sum += values[i] * (long)i;
		clobber(sum);
	}
	return sum;
}

NOINLINE static long tight(const int *values, int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
		WAYMARK_SIMPLE("c:tight", "%d %ld", i, sum);
		sum += values[i];
	}
	return sum;
}

NOINLINE static long unrolled(long n)
{
	long sum = n;
	for (int i = 0; i < 4; i++) {
		WAYMARK_SIMPLE("c:unrolled", "%d %ld", i, sum);
		sum = sum * 3 + i;
	}
	return sum;
}

NOINLINE static double floats(double x, float y, const double *z)
{
	double w[3] = {x, y, *z};
	double away = x * 2;
	escape = w;
	escape = &away;
	WAYMARK_SIMPLE("c:floats", "%f %f %f", x, y, w, away);
	sink++;
	return x + y + w[sink & 1] + *(double *)escape;
}

NOINLINE static int command(struct command *cmd, struct command *last)
{
	int found = 0;
	for (; cmd; cmd = cmd->next) {
		WAYMARK_SIMPLE("c:command", "%p %d %s %d %s", (void *)cmd, cmd->len, cmd->tag, cmd->color, cmd->name,
			cmd->three, cmd->five, cmd->weight, cmd->bytes, last->name, found);
		found += cmd->len;
		clobber(found);
	}
	return found;
}

NOINLINE static long globals(long n)
{
	total += n;
	exported -= n;
	WAYMARK_SIMPLE("c:globals", "%ld %ld %d", total, exported, perthread);
	return total + perthread;
}

NOINLINE static int clone(int mode, int n)
{
	int r = mode == 3 ? n * 7 : n / 3;
	WAYMARK_SIMPLE("c:clone", "%d %d %d", mode, n, r);
	clobber(r);
	return r + mode;
}

NOINLINE static int recurse(int n, int depth)
{
	WAYMARK_SIMPLE("c:recurse", "%d %d", n, depth);
	if (n <= 0)
		return depth;
	return recurse(n - 1, depth + 1) + 1;
}

/* gcc makes loops of these, and says of their parameters what they were at the first call. */
NOINLINE static int seventh(int a, int b, int c, int d, int e, int f, int n)
{
	WAYMARK_SIMPLE("c:seventh", "%d %d", a, n);
	if (n <= 0)
		return a + b + c + d + e + f;
	sink++;
	return seventh(a + 1, b, c, d, e, f, n - 1);
}

static long factorial(long n, long product)
{
	WAYMARK_SIMPLE("c:factorial", "%ld %ld", n, product);
	sink++;
	return n > 1 ? factorial(n - 1, product * n) : product;
}

NOINLINE static int digits(unsigned n, int count)
{
	if (n < 10)
		return count;
	for (int i = 0; i < count; i++) {
		int twice = count * 2;
		WAYMARK_SIMPLE_ANCHORED("c:digits", "%u %d %d %d", n, count, i, twice);
	}
	return digits(n / 10, count + 1);
}

NOINLINE static long steady(long n, long scale)
{
	for (int i = 0; i < n; i++) {
		WAYMARK_SIMPLE("c:steady", "%d %ld %ld", i, n, scale);
		clobber(i * scale);
	}
	return scale;
}

NOINLINE static int conditional(int n)
{
	int r = n * 2;
	if (n > 3) {
		WAYMARK_SIMPLE_ANCHORED("c:anchored", "%d %d", n, r);
	}
	if (n > 5) {
		WAYMARK_SIMPLE("c:body", "%d %d", n, r);
		clobber(n);
	}
	if (n > 6)
		WAYMARK_SIMPLE("c:last", "%d", n);
	return r + sink;
}

NOINLINE static int nested(int n)
{
	int c = 0;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++) {
			WAYMARK_SIMPLE("c:nested", "%d %d %d", i, j, c);
			c += i ^ j;
			clobber(c);
		}
	}
	return c;
}

NOINLINE static int cases(int n)
{
	int r = 1;
	switch (n) {
	case 0: r = 10; clobber(1); break;
	case 1: r = 20; WAYMARK_SIMPLE("c:case", "%d %d", n, r); clobber(2); break;
	case 2: r = 30; clobber(3); break;
	case 3: r = 40; clobber(4); break;
	case 4: r = 50; clobber(5); break;
	case 5: r = 60; clobber(6); break;
	}
	return r;
}

NOINLINE static long shadows(int n)
{
	int value = n + 100;
	WAYMARK_SIMPLE("c:shadows", "%d", value);
	{
		long value = n * 1000L;
		clobber(value);
		escape = &value;
		sink += (int)value;
	}
	return value;
}

/* A LEA of five bytes follows: it is no nop, though some of that length are. */
NOINLINE static void twofold(long n)
{
	sink++;
	WAYMARK_SIMPLE("c:twofold", "%ld", n);
	clobber(n * 2 + 2);
}

int main(void)
{
	int values[12];
	struct command last = {3, "lasttag", BLUE, "the last", 0, 5, -6, 2.25, {1, 2, 3, 255}};
	struct command first = {1, "first", RED, "the first", &last, 2, 7, -1e300, {9, 8, 7, 6}};
	struct pair p = {1234567890123, -5};
	struct small s = {-9, 300, 'z'};
	double z = 0.125;
	long r = 0;
	for (int i = 0; i < 12; i++)
		values[i] = i * i - 20;
	for (int i = 0; i < 3; i++) {
		r += registers(i - 1, -4000000000L + i, 250, -3, 1ull << 63, -128);
		r += stack(i);
		p.x += i;
		r += pieces(p, s);
		r += split(i * 100);
		r += folded(i);
		r += caller_a(i) + caller_b(i);
		r += clobbered(i, i * 2, i * 3);
		r += (long)floats(i + 0.5, i * 1.5f, &z);
		r += globals(i);
		r += clone(3, i) + clone(3, i * 2);
		r += shadows(i);
		twofold(i);
	}
	r += loop(values, 10) + tight(values, 12);
	r += unrolled(2);
	r += command(&first, &last);
	r += recurse(4, 0);
	r += seventh(1, 2, 3, 4, 5, 6, 3) + factorial(5, 1) + digits(98765, 1) + steady(4, r);
	r += nested(4);
	for (int i = 0; i < 8; i++)
		r += conditional(i) + cases(i & 3);
	printf("%ld\n", r);
	return 0;
}

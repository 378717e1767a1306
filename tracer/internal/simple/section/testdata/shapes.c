/* Functions of every shape with simple markers; builds as C and as C++. */
#include <inttypes.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include "waymark/simple.h"

struct command {
	int len;
	struct { int64_t lba; const char *name; } inner;
	struct command *next;
};

static int counter;
jmp_buf env;

int straight(struct command *cmd, int n, int64_t k)
{
	int rtn = n * 3;
	WAYMARK_SIMPLE("shape:plain", "plain");
	rtn += (int)k;
	WAYMARK_SIMPLE("shape:text", "Command %p \"len\" {a|b} $x 100%% %d\tk %" PRId64 "\n", (void *)cmd, cmd->len, k);
	return rtn;
}

int loop(const int *values, size_t n)
{
	int sum = 0;
	for (size_t i = 0; i < n; i++) {
		WAYMARK_SIMPLE("shape:loop", "i %zu v %d sum %d", i, values[i], sum);
		sum += values[i] * (int)i;
	}
	while (sum > 1000) {
		sum /= 2;
		WAYMARK_SIMPLE("shape:halve", "sum %d", sum);
	}
	return sum;
}

int nested(int n)
{
	int c = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++) {
			if ((i ^ j) & 3) {
				WAYMARK_SIMPLE("shape:nested", "i %d j %d c %d", i, j, c);
				c++;
				continue;
			}
			c += j;
		}
	return c;
}

int condition(int n, const char *s)
{
	if (n > 3)
		WAYMARK_SIMPLE("shape:big", "n %d", n);
	else if (n < 0)
		WAYMARK_SIMPLE("shape:negative", "n %d s %s", n, s);
	switch (n) {
	case 1:
		WAYMARK_SIMPLE("shape:one", "n %d", n);
		return 7;
	case 2: case 3: case 4: case 5: case 6: case 7:
		n += (int)strlen(s);
		break;
	default:
		goto out;
	}
	WAYMARK_SIMPLE("shape:few", "n %d", n);
out:
	return n;
}

static inline int inlined(int n)
{
	WAYMARK_SIMPLE("shape:inlined", "n %d", n);
	return n ^ 5;
}

int inlines(int n) { return inlined(n) + inlined(n + 1) * inlined(n * 2); }

double floats(double x, float y, long double z)
{
	x *= y;
	WAYMARK_SIMPLE("shape:floats", "x %f y %g z %Lf", x, y, z);
	return x + (double)z;
}

int members(struct command c, struct command *p)
{
	c.len += p->len;
	WAYMARK_SIMPLE("shape:members", "len %d next %p name %c", c.len, (void *)p->next->next, p->inner.name["a,b"[0] - 'a']);
	return c.len + (int)c.inner.lba;
}

int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	WAYMARK_SIMPLE("shape:many", "%d %d %d %d %d %d %d %d",
		a, b, c, d, e, f, g, h);
	return a - h;
}

int global(int n)
{
	counter += n;
	WAYMARK_SIMPLE("shape:global", "counter %d", counter);
	return n;
}

int jumps(int n)
{
	if (setjmp(env)) {
		WAYMARK_SIMPLE("shape:jumped", "n %d", n);
		return 1;
	}
	return n;
}

int main(void)
{
	struct command c = { 1, { 2, "name" }, NULL };
	c.next = &c;
	int values[] = { 1, 2, 3 };
	return straight(&c, 1, 2) + loop(values, 3) + nested(4) + condition(2, "x") + inlines(3) +
		(int)floats(1, 2, 3) + members(c, &c) + many(1, 2, 3, 4, 5, 6, 7, 8) + global(1) + jumps(0) == 0;
}

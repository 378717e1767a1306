// What C++ has besides: this, references, templates, base classes, namespaces, lambdas.
#include <cstdint>
#include <cstdio>
#include "waymark/simple.h"

#define NOINLINE __attribute__((noinline))

static volatile long sink;
NOINLINE static void clobber(long n)
{
	__asm__ __volatile__("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	sink += n;
}

namespace shop {
enum class state : uint8_t { open = 1, closed = 200 };
struct base { int id; long made; };
class box : public base {
public:
	box(int n) : base{n, n * 10L}, items(n * 2), status(state::closed) {}
	NOINLINE int take(int n);
	static int count;
private:
	int items;
	state status;
};
int box::count = 3;
int box::take(int n)
{
	int left = items - n;
	WAYMARK_SIMPLE("cc:take", "%d %d %d", n, left, this->items, items, this->id, this->status);
	clobber(left);
	return left + id;
}
}

template <typename T> NOINLINE static T twice(T v, T *out)
{
	T w = v + v;
	WAYMARK_SIMPLE("cc:twice", "", v, w);
	*out = w;
	clobber((long)w);
	return w;
}

NOINLINE static long reference(const int &a, long &b)
{
	WAYMARK_SIMPLE("cc:reference", "%d %ld", a, b);
	b += a;
	clobber(b);
	return b;
}

inline long shared(long n)
{
	long m = n ^ 5;
	WAYMARK_SIMPLE("cc:shared", "%ld %ld", n, m);
	clobber(m);
	return m;
}

int main()
{
	shop::box b(4);
	long r = 0, out = 0;
	char small = 0;
	for (int i = 0; i < 3; i++) {
		r += b.take(i);
		r += twice<long>(i + 1000000000000, &out) + twice<char>((char)i, &small);
		r += reference(i, r);
		r += shared(i);
	}
	std::printf("%ld\n", r);
	return 0; // it needs not be called main
}

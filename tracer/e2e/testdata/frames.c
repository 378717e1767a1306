// Functions with and without frames, calls and variables in the red zone, each with a marker of a 5-byte
// nop amid values that it checks. For each line of input, the program calls all of them N times, and prints how
// many values of each changed.
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#undef _SDT_NOP
#define _SDT_NOP .nops 5

#define FUNCTION static __attribute__((noinline)) long
#define SET(v, n) for (int i = 0; i < (n); i++) (v)[i] = a + i
#define CHANGED(v, n) for (int i = 0; i < (n); i++) changed += (v)[i] != a + i

static volatile long sink;

__attribute__((noinline)) void other(volatile long *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) long last(long a) { __asm__ volatile("" : "+r"(a) : : "memory"); return a; }

FUNCTION leaf_none(long a) { STAP_PROBE1(frames, leaf_none, a); return 0; }
FUNCTION leaf_values(long a) { volatile long v[4]; long changed = 0; SET(v, 4); STAP_PROBE1(frames, leaf_values, a); CHANGED(v, 4); return changed; }
FUNCTION leaf_frame(long a) { volatile long v[40]; long changed = 0; SET(v, 40); STAP_PROBE1(frames, leaf_frame, a); CHANGED(v, 40); return changed; }
FUNCTION leaf_pointer(long a)
{
	long v[8], *p = v, changed = 0;
	__asm__ volatile("" : "+r"(p));
	SET(p, 8);
	STAP_PROBE1(frames, leaf_pointer, a);
	CHANGED(p, 8);
	return changed;
}
FUNCTION leaf_switch(long a)
{
	volatile long v = a;
	switch (a & 7) {
	case 0: sink = 3; break;
	case 1: v = a; break;
	case 3: sink = a; break;
	case 4: sink = 9; break;
	case 6: sink = a * 3; v = a; break;
	}
	STAP_PROBE1(frames, leaf_switch, a);
	return v != a;
}
FUNCTION leaf_aligned(long a)
{
	_Alignas(64) volatile long v[8];
	long changed = 0;
	SET(v, 8);
	STAP_PROBE1(frames, leaf_aligned, a);
	CHANGED(v, 8);
	return changed;
}
FUNCTION tail(long a) { volatile long v = a; STAP_PROBE1(frames, tail, a); long w = v; return last(w - a); }
FUNCTION calls(long a) { volatile long v[4]; long changed = 0; other(v); SET(v, 4); STAP_PROBE1(frames, calls, a); CHANGED(v, 4); return changed; }
FUNCTION calls_later(long a) { volatile long v[4]; long changed = 0; SET(v, 4); STAP_PROBE1(frames, calls_later, a); CHANGED(v, 4); other(v); return changed; }
FUNCTION calls_seldom(long a)
{
	volatile long v[4];
	long changed = 0;
	SET(v, 4);
	if (__builtin_expect(sink == -1, 0)) {
		other(v);
		abort();
	}
	STAP_PROBE1(frames, calls_seldom, a);
	CHANGED(v, 4);
	return changed;
}
FUNCTION calls_variable(long a)
{
	long n = (a & 3) + 4, changed = 0;
	volatile long v[n];
	other(v);
	SET(v, n);
	STAP_PROBE1(frames, calls_variable, a);
	CHANGED(v, n);
	return changed;
}
FUNCTION calls_aligned(long a)
{
	_Alignas(64) volatile long v[8];
	long changed = 0;
	other(v);
	SET(v, 8);
	STAP_PROBE1(frames, calls_aligned, a);
	CHANGED(v, 8);
	return changed;
}

#define ALL(F) F(leaf_none) F(leaf_values) F(leaf_frame) F(leaf_pointer) F(leaf_switch) F(leaf_aligned) F(tail) \
	F(calls) F(calls_later) F(calls_seldom) F(calls_variable) F(calls_aligned)

int main(int argc, char **argv)
{
	for (int c; (c = getchar()) != EOF;) {
#define RUN(f) { long changed = 0; for (long i = 0, n = argc > 1 ? atol(argv[1]) : 1; i < n; i++) changed += f(i); printf("%s %ld\n", #f, changed); }
		ALL(RUN)
		puts("done");
		fflush(stdout);
	}
}

// A program of every operand form a compiler emits, without libc: testdata/build.sh.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

unsigned short tiny_one_semaphore __attribute__((section(".probes"), used));
unsigned short tiny_two_semaphore __attribute__((section(".probes"), used));

int counter = 7;
static long table[4] = {1, 2, 3, 4};

__attribute__((noinline)) void two(int i, signed char c, double d) {
	STAP_PROBE4(tiny, two, table[i], c, d, -5);
}

void _start(void) {
	STAP_PROBE2(tiny, one, counter, 42u);
	two(counter & 3, (signed char)counter, counter);
	for (;;) __builtin_trap();
}

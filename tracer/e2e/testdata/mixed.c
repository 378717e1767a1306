/* Markers whose sites pass different types: each value is what its own site passed. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/sdt.h>

#define HIT(name, format, v) do { STAP_PROBE2(mixed, name, v, 1); printf(#name " %" format " 1\n", v); } while (0)

/* A parameter, which is in memory: gcc cannot name registers for so wide a one. */
__attribute__((noinline, noclone)) static void wide(long double l, int points)
{
	if (points)
		HIT(points, "La", l);
	else
		HIT(first, "La", l);
}

int main(void)
{
	volatile int64_t i64 = INT64_MIN;
	volatile uint64_t u64 = UINT64_MAX;
	volatile int32_t i32 = -1;
	volatile uint8_t u8 = 255;
	volatile float f = -1.5f;
	volatile double d = 0.1;

	HIT(signs, PRId64, i64); HIT(signs, PRIu64, u64); HIT(signs, PRId32, i32); HIT(signs, PRIu8, u8);
	HIT(narrow, PRId32, i32); HIT(narrow, PRIu8, u8);
	HIT(points, "a", f); HIT(points, "a", d); wide(1, 1);
	wide(2, 0); HIT(first, "a", f);
	HIT(sorts, "a", d); HIT(sorts, PRIu64, u64); HIT(sorts, PRId32, i32); HIT(sorts, "a", f); HIT(sorts, PRId64, i64);
	HIT(constants, PRId64, INT64_MIN); HIT(constants, PRIu64, UINT64_MAX); HIT(constants, PRId32, -1);
	return 0;
}

/* A probe for each basic type, at the extremes of the type and in every place that a compiler can
   pass it from; prints what it passes. compilers_linux_test.go builds it in many ways. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/sdt.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

/* One probe that has a value twice, with a small integer between: the value's own line. */
#define HIT(name, format, v) \
	do { \
		STAP_PROBE3(types, name, v, small, v); \
		printf(#name " %" format " %d %" format "\n", v, small, v); \
	} while (0)

/* TYPE(name, type, format): the parameter, a local, an element, a member, globals that are static
   and not, through a pointer, and volatile ones. */
#define TYPE(N, T, F) \
	struct s_##N { char pad; T v[4]; T last; }; \
	T global_##N; \
	static T static_##N; \
	static T table_##N[16]; \
	static struct s_##N struct_##N; \
	NOINLINE static void param_##N(T v, int small) { HIT(param_##N, F, v); } \
	NOINLINE static void local_##N(T v, int small) \
	{ \
		volatile T forced = v; \
		HIT(volatile_##N, F, forced); \
		T kept = v; \
		__asm__ volatile("" : "+m"(kept)); \
		HIT(local_##N, F, kept); \
	} \
	NOINLINE static void global_hit_##N(int small) { HIT(global_##N, F, global_##N); HIT(static_##N, F, static_##N); } \
	NOINLINE static void table_hit_##N(long i, int small) { HIT(table_##N, F, table_##N[i]); HIT(fixed_##N, F, table_##N[3]); } \
	NOINLINE static void pointer_##N(const T *p, long i, int small) { HIT(pointer_##N, F, p[i]); HIT(deref_##N, F, *p); } \
	NOINLINE static void member_##N(const struct s_##N *s, long i, int small) { HIT(member_##N, F, s->last); HIT(inner_##N, F, s[0].v[i]); } \
	NOINLINE static void twelve_##N(T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k, T l) \
	{ \
		STAP_PROBE12(types, twelve_##N, a, b, c, d, e, f, g, h, i, j, k, l); \
		printf("twelve_" #N " %" F " %" F " %" F " %" F " %" F " %" F " %" F " %" F " %" F " %" F " %" F " %" F "\n", \
		       a, b, c, d, e, f, g, h, i, j, k, l); \
	} \
	NOINLINE static void all_##N(T v) \
	{ \
		param_##N(v, 7); \
		local_##N(v, -8); \
		global_##N = v, static_##N = v, global_hit_##N(9); \
		table_##N[3] = v, table_##N[11] = v, table_hit_##N(11, -10); \
		pointer_##N(table_##N + 11, -8, 11), pointer_##N(&v, 0, 11); \
		struct_##N.last = v, struct_##N.v[2] = v, member_##N(&struct_##N, 2, -12); \
		T w = (T)(v / 2); \
		twelve_##N(v, w, v, 1, w, v, 2, w, v, 0, w, v); \
	}

TYPE(i8, int8_t, PRId8)
TYPE(i16, int16_t, PRId16)
TYPE(i32, int32_t, PRId32)
TYPE(i64, int64_t, PRId64)
TYPE(u8, uint8_t, PRIu8)
TYPE(u16, uint16_t, PRIu16)
TYPE(u32, uint32_t, PRIu32)
TYPE(u64, uint64_t, PRIu64)
TYPE(b, bool, "d")
TYPE(f, float, "a")
TYPE(d, double, "a")

/* Constants, which compilers write into the note. */
#define CONSTANT(N, F, V) do { int small = 1; HIT(N, F, V); } while (0)

int main(void)
{
	all_i8(INT8_MIN), all_i8(-1), all_i8(0), all_i8(INT8_MAX);
	all_i16(INT16_MIN), all_i16(-1), all_i16(0), all_i16(INT16_MAX);
	all_i32(INT32_MIN), all_i32(-1), all_i32(0), all_i32(INT32_MAX);
	all_i64(INT64_MIN), all_i64(-1), all_i64(0), all_i64(INT64_MAX);
	all_u8(0), all_u8(1), all_u8(0x80), all_u8(UINT8_MAX);
	all_u16(0), all_u16(1), all_u16(0x8000), all_u16(UINT16_MAX);
	all_u32(0), all_u32(1), all_u32(0x80000000), all_u32(UINT32_MAX);
	all_u64(0), all_u64(1), all_u64((uint64_t)1 << 63), all_u64(UINT64_MAX);
	all_b(false), all_b(true);
	all_f(0), all_f(-0.0f), all_f(1.5f), all_f(FLT_MIN / 3), all_f(-FLT_MAX), all_f(INFINITY), all_f(NAN);
	all_d(0), all_d(-0.0), all_d(-1.5), all_d(DBL_MIN / 3), all_d(DBL_MAX), all_d(-INFINITY), all_d(NAN);

	CONSTANT(const_i8_min, PRId8, (int8_t)INT8_MIN);
	CONSTANT(const_u8_max, PRIu8, (uint8_t)UINT8_MAX);
	CONSTANT(const_i16_min, PRId16, (int16_t)INT16_MIN);
	CONSTANT(const_u16_max, PRIu16, (uint16_t)UINT16_MAX);
	CONSTANT(const_i32_min, PRId32, INT32_MIN);
	CONSTANT(const_i32_max, PRId32, INT32_MAX);
	CONSTANT(const_u32_max, PRIu32, UINT32_MAX);
	CONSTANT(const_i64_min, PRId64, INT64_MIN);
	CONSTANT(const_i64_max, PRId64, INT64_MAX);
	CONSTANT(const_u64_max, PRIu64, UINT64_MAX);
	CONSTANT(const_u64_high, PRIu64, (uint64_t)1 << 63);
	CONSTANT(const_true, "d", (bool)true);
	CONSTANT(const_f, "a", 1.5f);
	CONSTANT(const_d, "a", -0.1);
	return 0;
}

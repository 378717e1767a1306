/* The events of peers.c for LTTng-UST, in the form that its headers want. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ust.h"

#if !defined(BENCH_UST_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_UST_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(bench, hit, LTTNG_UST_TP_ARGS(long, n, long, at),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, n, n) lttng_ust_field_integer_hex(long, at, at)))
#define BENCH_HIT(k) LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, hit, bench, hit##k, LTTNG_UST_TP_ARGS(long, n, long, at))
BENCH_HIT(0)
BENCH_HIT(1)
BENCH_HIT(2)
BENCH_HIT(3)
BENCH_HIT(4)
BENCH_HIT(5)
BENCH_HIT(6)
BENCH_HIT(7)

#endif
#include <lttng/tracepoint-event.h>

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER waymark_test
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./tp.h"
#if !defined(TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TP_H
#include <stdint.h>
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_ENUM(waymark_test, color, LTTNG_UST_TP_ENUM_VALUES(
  lttng_ust_field_enum_value("RED", 0) lttng_ust_field_enum_value("GREEN", 1) lttng_ust_field_enum_range("MANY", 2, 50)))
LTTNG_UST_TRACEPOINT_EVENT(waymark_test, all,
  LTTNG_UST_TP_ARGS(int, i, const char *, s, double, d, const uint16_t *, seq, size_t, n),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(int, i, i)
    lttng_ust_field_integer(uint8_t, u8, (uint8_t)i)
    lttng_ust_field_integer(int64_t, i64, -(int64_t)i * 1000000007)
    lttng_ust_field_integer_hex(uint64_t, hex, (uint64_t)i << 33)
    lttng_ust_field_integer_network(uint32_t, net, (uint32_t)i)
    lttng_ust_field_integer_network_hex(uint16_t, nethex, (uint16_t)i)
    lttng_ust_field_string(s, s)
    lttng_ust_field_float(double, d, d)
    lttng_ust_field_float(float, f, (float)d)
    lttng_ust_field_array(uint16_t, arr, seq, 3)
    lttng_ust_field_array_text(char, text, "fixed\0\0", 8)
    lttng_ust_field_sequence(uint16_t, seq, seq, size_t, n)
    lttng_ust_field_sequence_text(char, seqtext, s, size_t, strlen(s))
    lttng_ust_field_sequence_hex(uint16_t, seqhex, seq, uint8_t, n)
    lttng_ust_field_enum(waymark_test, color, int, color, i % 60)
    lttng_ust_field_integer_nowrite(int, hidden, i)))
LTTNG_UST_TRACEPOINT_EVENT(waymark_test, none, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
#endif
#include <lttng/tracepoint-event.h>

#include <string.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "tp.h"
int main(int argc, char **argv) {
  static const char *texts[] = {"", "x", "it's \"q\" \\", "caf\xc3\xa9", "tab\tnewline\n", "a somewhat longer text"};
  uint16_t seq[8] = {0, 1, 2, 65535, 4, 5, 6, 7};
  int n = atoi(argv[1]);
  for (int i = 0; i < n; i++) {
    lttng_ust_tracepoint(waymark_test, all, i, texts[i % 6], i * 0.5 - 3, seq, i % 9);
    if (i % 7 == 0) lttng_ust_tracepoint(waymark_test, none);
  }
  return 0;
}

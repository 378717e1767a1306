/* A probe without a reference counter: whether a file's probes have one is settled for each
 * translation unit. */
#include <sys/sdt.h>

void bare(long i)
{
	STAP_PROBE1(sdt_tick, bare, i);
}

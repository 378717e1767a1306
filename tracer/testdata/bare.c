/* A probe without a reference counter: whether a file's probes have one is settled for each
 * translation unit. */
#include <sys/sdt.h>

void bare(long i)
{
#ifdef RED_ZONE
	volatile long kept = i; /* below the stack pointer, where a function that calls no others may have it */
#endif
	STAP_PROBE1(sdt_tick, bare, i);
}

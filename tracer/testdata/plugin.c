/* A library with a marker, which its constructor hits twice, unless QUIET, and plugin as often as it is told. */
#include <sys/sdt.h>

#ifndef QUIET
__attribute__((constructor)) static void begin(void)
{
	STAP_PROBE1(plugin, hit, -1);
	STAP_PROBE1(plugin, hit, -2);
}
#endif

void plugin(long n)
{
	for (long i = 0; i < n; i++)
		STAP_PROBE1(plugin, hit, i);
}

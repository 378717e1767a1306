/* A library with markers in pairs, which its constructor hits once and plugin as often as it is told. The
 * end's second argument is text. */
#include <sys/sdt.h>

static const char *const names[] = {"short", "", "a name that is longer than what a key can keep of a text, which is 64 bytes"};

__attribute__((constructor)) static void begin(void)
{
	STAP_PROBE1(lap, begin, -1L);
	STAP_PROBE2(lap, end, -1L, "constructor");
}

void plugin(long n)
{
	for (long i = 0; i < n; i++) {
		STAP_PROBE1(lap, begin, i);
		STAP_PROBE2(lap, end, i, names[i % 3]);
	}
}

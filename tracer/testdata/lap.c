/* A library with markers in pairs, which its constructor hits once, unless QUIET, and plugin as often as it is
 * told. The end's second argument is text; with NOP5 its sites are nops of 5 bytes, in functions with a red zone. */
#include <sys/sdt.h>

static const char *const names[] = {"short", "", "a name that is longer than what a key can keep of a text, which is 64 bytes"};

static void begin(long id)
{
	STAP_PROBE1(lap, begin, id);
}

#ifdef NOP5
#undef _SDT_NOP
#define _SDT_NOP .nops 5
#endif

static void end(long id, const char *name)
{
#ifdef NOP5
	volatile long kept = id;
#endif
	STAP_PROBE2(lap, end, id, name);
}

#ifndef QUIET
__attribute__((constructor)) static void once(void)
{
	begin(-1);
	end(-1, "constructor");
}
#endif

void plugin(long n)
{
	for (long i = 0; i < n; i++) {
		begin(i);
		end(i, names[i % 3]);
	}
}

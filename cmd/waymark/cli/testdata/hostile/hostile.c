/*
 * A program whose every name does harm to a terminal that gets it as it is: those of its markers and their operands, of its
 * simple marker, and of its process. hostile ITERATIONS passes them so many times, a millisecond apart.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <time.h>
#include "waymark/simple.h"

#define HARM "\033[2J\033]0;t\007\302\2332J\2332J\342\200\256\377\r\nFORGED\nwaymark: hint: FORGED"

/* As sys/sdt.h has it, which does not take such names. */
#define NOTE(tag, operands)                                                               \
	"990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                  \
	".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"        \
	"993: .8byte 990b, _.stapsdt.base, 0\n"                                            \
	".asciz \"provider" HARM_TEXT "\"\n.asciz \"" tag HARM_TEXT "\"\n.asciz \"" operands "\"\n" \
	"994: .balign 4\n.popsection\n"
#define HARM_TEXT "\\033[2J\\033]0;t\\007\\302\\2332J\\2332J\\342\\200\\256\\377\\r\\nFORGED\\nwaymark: hint: FORGED"

static char text[] = HARM;

__attribute__((noinline)) static void pass(int n, char *text)
{
	__asm__ volatile(NOTE("begin", "-4@%%edi 8@%%rsi") : : "D"(n), "S"(text));
	__asm__ volatile(NOTE("end", "-4@%%edi 8@%%rsi") : : "D"(n), "S"(text));
	__asm__ volatile(NOTE("odd", "8@operand" HARM_TEXT));
	DTRACE_PROBE2(plain, text, n, text);
	WAYMARK_SIMPLE_ANCHORED("simple\033[2J\033]0;t\007\302\2332J\2332J\342\200\256\377\r\nFORGED\nwaymark: hint: FORGED",
		"description %d\033[2J\033]0;t\007\302\2332J\2332J\342\200\256\377\r\nFORGED\nwaymark: hint: FORGED", n);
}

int main(int argc, char **argv)
{
	struct timespec ms = {0, 1000000};

	prctl(PR_SET_NAME, "\033[2J\302\233\342\200\256\nFORGED");
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		pass(i, text);
		nanosleep(&ms, NULL);
	}
	return 0;
}

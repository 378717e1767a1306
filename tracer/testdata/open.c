/* Hits open:begin and open:end with numbers, in one thread. Every line of input is a command and is answered by a line:
 *
 *	begin FROM TO        begins each from FROM up to TO
 *	end FROM TO          ends each
 *	pair FROM TO         begins one and ends it, and then the next */
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>

int main(void)
{
	char line[256], what[16];
	long from, to;

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && sscanf(line, "%15s %ld %ld", what, &from, &to) == 3) {
		for (long i = from; i < to; i++) {
			if (strcmp(what, "end"))
				STAP_PROBE1(open, begin, i);
			if (strcmp(what, "begin"))
				STAP_PROBE1(open, end, i);
		}
		puts(what);
		fflush(stdout);
	}
	return 0;
}

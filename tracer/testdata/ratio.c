/* Threads that pass ratio:a once, ratio:b twice and ratio:c three times in each turn, until the input has a line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

enum { MAX = 64 };
static volatile int over;

static void *work(void *arg)
{
	while (!over) {
		STAP_PROBE(ratio, a);
		for (int i = 0; i < 2; i++)
			STAP_PROBE1(ratio, b, i);
		for (int i = 0; i < 3; i++)
			STAP_PROBE1(ratio, c, i);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t threads[MAX];
	char line[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	puts("ready");
	fgets(line, sizeof line, stdin);
	over = 1;
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], 0);
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

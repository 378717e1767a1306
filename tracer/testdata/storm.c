/* Threads that hit storm:hit with a number and a text of varying length as fast as they can. Waits for a line of input
 * before and after; prints "done" in between. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

enum { MAX = 64 };
static long rounds;
static char text[256];

static void *work(void *arg)
{
	for (long i = 0; i < rounds; i++)
		STAP_PROBE3(storm, hit, i, text + i % 200, (long)arg);
	return 0;
}

int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t threads[MAX];
	char line[16];

	rounds = atol(argv[2]);
	for (int i = 0; i < 255; i++)
		text[i] = 'a' + i % 26;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	fgets(line, sizeof line, stdin);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], 0);
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

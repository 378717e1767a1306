/* Told to go, forks as many children as its first argument says, each of which forks once more,
 * and all of them hit the marker as often as the second says, and again behind its reference counter: the
 * first instruction of a child on its own is to hit it. */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/sdt.h>

__extension__ unsigned short forks_hit_semaphore __attribute__((section(".probes")));
__extension__ unsigned short forks_guarded_semaphore __attribute__((section(".probes")));

static void hit(long n)
{
	for (long i = 0; i < n; i++) {
		STAP_PROBE1(forks, hit, i);
		if (__builtin_expect(*(volatile unsigned short *)&forks_guarded_semaphore, 0))
			STAP_PROBE1(forks, guarded, i);
	}
}

int main(int argc, char **argv)
{
	long children = atol(argv[1]), n = atol(argv[2]);
	char line[64];

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	if (!fgets(line, sizeof line, stdin))
		return 3;
	for (long i = 0; i < children; i++)
		if (fork() == 0) {
			hit(n);
			if (fork() == 0)
				hit(n);
			else
				wait(NULL);
			_exit(0);
		}
	hit(n);
	while (wait(NULL) > 0)
		;
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

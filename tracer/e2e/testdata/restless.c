// A process without rest: it passes its markers, forks, executes itself anew, loads and unloads
// a library with markers, and dies, at random, until SIGUSR1 tells it and its children to
// stay as they are. Compiled with -DLIBRARY it is the library.
#define _GNU_SOURCE
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EACH(X) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h)
#define DECLARE(name) unsigned short restless_##name##_semaphore __attribute__((section(".probes")));
#define PASS(name) if (restless_##name##_semaphore) STAP_PROBE1(restless, name, i);
EACH(DECLARE)

void pass(long i) { EACH(PASS) }

#ifndef LIBRARY
static volatile sig_atomic_t calm;
static void become_calm(int signal) { calm = signal; }

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	signal(SIGUSR1, become_calm);
	alarm(1800); // whatever becomes of the test
	signal(SIGCHLD, SIG_IGN);
	srandom(atoi(argv[2]));
	long life = atol(argv[3]); // in passes, of a child; negative, without end
	void *library = NULL;
	void (*passes)(long) = NULL;
	for (long i = 0; !calm; i++) {
		pass(i);
		if (passes) passes(i);
		usleep(5000 + random() % 20000);
		if (calm || (life >= 0 && life-- == 0)) break;
		switch (random() % 64) {
		case 0: case 1:
			if (life < 0 && fork() == 0) {
				life = random() % 40; // and it has no children: there shall not be ever more
				alarm(600);
				srandom(getpid());
			}
			break;
		case 2: {
			char seed[16], left[16];
			snprintf(seed, sizeof seed, "%ld", random() % 1000000);
			snprintf(left, sizeof left, "%ld", life);
			execl("/proc/self/exe", argv[0], argv[1], seed, left, NULL);
			return 1;
		}
		case 3: case 4: case 5:
			if (library) {
				passes = NULL;
				dlclose(library);
				library = NULL;
			} else if ((library = dlopen(argv[1], RTLD_NOW))) {
				passes = (void (*)(long))dlsym(library, "pass");
			}
			break;
		case 6:
			if (random() % 4 == 0) kill(getpid(), random() % 2 ? SIGKILL : SIGSEGV);
		}
	}
	if (!calm) _exit(0);
	pass(0);
	for (;;) pause();
}
#endif

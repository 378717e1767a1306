/* With -DLIB a library with one marker behind its reference counter, else a program that loads
 * it when it is told to. Every line of input is a command and is answered by one line:
 *
 *	open LIB        load the library
 *	hit N           call its marker's guard N times: how often it was open
 *	map FILE AT P   map a page of a file again, private and with protection P (3 writable, 5 executable)
 *	fork            fork a child that waits: its number
 *	vfork           have a child that shares the memory for 200 ms
 *	exec FILE LIB   become FILE, which loads LIB at once */
#define _GNU_SOURCE
#define _SDT_HAS_SEMAPHORES 1
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/sdt.h>

#ifdef LIB
__extension__ unsigned short late_hit_semaphore __attribute__((section(".probes")));

long hit(long n)
{
	long open = 0;

	for (long i = 0; i < n; i++)
		if (__builtin_expect(*(volatile unsigned short *)&late_hit_semaphore, 0)) {
			STAP_PROBE1(late, hit, i);
			open++;
		}
	return open;
}
#else
static long (*hit)(long);

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib) {
		puts(dlerror());
		exit(2);
	}
	hit = (long (*)(long))dlsym(lib, "hit");
}

int main(int argc, char **argv)
{
	char line[4096], word[4096], more[4096] = "";
	long at, protection;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1 && argv[1][0] == '/')
		load(argv[1]);
	puts("ready");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "open %4095s", word) == 1) {
			load(word);
			puts("opened");
		} else if (sscanf(line, "hit %ld", &at) == 1) {
			printf("%ld\n", hit(at));
		} else if (sscanf(line, "map %4095s %ld %ld", word, &at, &protection) == 3) {
			int fd = open(word, O_RDONLY);
			void *page = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, at & ~4095L);
			puts(page == MAP_FAILED ? "not mapped" : "mapped");
		} else if (!strcmp(line, "fork")) {
			if (!(child = fork()))
				for (;;)
					pause();
			printf("%d\n", child);
		} else if (!strcmp(line, "vfork")) {
			if (!(child = vfork())) {
				usleep(200000);
				_exit(0);
			}
			waitpid(child, NULL, 0);
			puts("back");
		} else if (sscanf(line, "exec %4095s %4095s", word, more) == 2) {
			execl(word, word, more, NULL);
			return 4;
		}
	}
	return 0;
}
#endif

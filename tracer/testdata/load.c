/* Loads the library of its first argument when told to, then calls its function plugin when
 * told again, as often as the second says. It has no marker of its own. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char line[64];
	void *lib;
	void (*plugin)(long);

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	if (!fgets(line, sizeof line, stdin))
		return 3;
	lib = dlopen(argv[1], RTLD_NOW);
	if (!lib || !(plugin = (void (*)(long))dlsym(lib, "plugin"))) {
		puts(dlerror());
		return 4;
	}
	puts("loaded");
	if (!fgets(line, sizeof line, stdin))
		return 3;
	plugin(atol(argv[2]));
	puts("done");
	fgets(line, sizeof line, stdin);
	return 0;
}

/* Loads libraries, each when told to, and then calls its function plugin when told again: pairs of
 * a library and how often are the arguments; "-" unloads the last library, and calls the first. It has no
 * marker of its own. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char line[64];
	void *lib = NULL;
	void (*plugin)(long), (*first)(long) = NULL;

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	for (int i = 1; i < argc; i += 2) {
		if (!fgets(line, sizeof line, stdin))
			return 3;
		if (argv[i][0] == '-' && first && !dlclose(lib)) {
			plugin = first;
		} else if (!(lib = dlopen(argv[i], RTLD_NOW)) || !(plugin = (void (*)(long))dlsym(lib, "plugin"))) {
			puts(dlerror());
			return 4;
		}
		first = first ? first : plugin;
		puts("loaded");
		if (!fgets(line, sizeof line, stdin))
			return 3;
		plugin(atol(argv[i + 1]));
		puts("done");
	}
	fgets(line, sizeof line, stdin);
	return 0;
}

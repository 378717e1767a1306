/* Source 003's example, made to count. loop1 is bare, loop2 is behind its reference counter
 * and args carries one operand of every form. It hits each as often as its argument says,
 * then prints how often loop2's guard was open, and ends with its input. Told "exec PATH" it
 * becomes that program instead. Without input to wait for ("run") it starts at once. */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/sdt.h>

__extension__ unsigned short sdt_tick_loop1_semaphore __attribute__((unused, section(".probes")));
__extension__ unsigned short sdt_tick_loop2_semaphore __attribute__((section(".probes")));
__extension__ unsigned short sdt_tick_args_semaphore __attribute__((unused, section(".probes")));

static int table[4] = {11, -22, 33, -44};
static volatile int stored = -77;
static volatile char initial = 'w';

struct pair { long a; short b; };
void bare(long i);

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20;
	long guarded = 0;
	char line[64];

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 3) {
		puts("ready");
		if (!fgets(line, sizeof line, stdin))
			return 3;
		if (!strncmp(line, "exec ", 5)) {
			line[strcspn(line, "\n")] = 0;
			execl(line + 5, line + 5, "60", NULL);
			return 4;
		}
	}
	for (long i = 0; i < n; i++) {
		volatile struct pair p = {i, (short)-i};
		unsigned char byte = (unsigned char)i;

		STAP_PROBE1(sdt_tick, loop1, i);
		bare(i);
		if (__builtin_expect(sdt_tick_loop2_semaphore, 0)) {
			STAP_PROBE2(sdt_tick, loop2, i, (int)-i);
			guarded++;
		}
		STAP_PROBE8(sdt_tick, args, (int)-i, byte, (char)initial, stored, table[i & 3], p.b, 7, (long)-9);
	}
	printf("done %ld\n", guarded);
	if (argc < 3)
		while (fgets(line, sizeof line, stdin))
			printf("%d\n", sdt_tick_loop2_semaphore);
	return 0;
}

/* Marks what it is told, for tests of conditions: reads lines of four numbers (hexadecimal bits) and a text, and
 * hits one marker with them in every width, sign and place. "." as the text is none: a null pointer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

static volatile long in_memory;

int main(void)
{
	static char line[16384];

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	for (long n = 0; fgets(line, sizeof line, stdin); n++) {
		unsigned long a, b, c, d;
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%lx %lx %lx %lx %n", &a, &b, &c, &d, &at) != 4) {
			printf("done %ld\n", n);
			n = -1;
			continue;
		}
		char *text = strcmp(line + at, ".") ? line + at : NULL;
		union { unsigned long bits; double number; } f64 = { d };
		union { unsigned int bits; float number; } f32 = { (unsigned int)d };

		in_memory = (long)b;
		STAP_PROBE10(values, numbers, n, (signed char)a, (unsigned char)a, (short)a, (unsigned short)a,
			(int)a, (unsigned int)a, (long)a, a, in_memory);
		STAP_PROBE5(values, texts, n, text, c, text, (int)c);
		STAP_PROBE3(values, floats, n, &f64.number, &f32.number);
		__asm__ volatile ("990: nop\n"
			".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n"
			".asciz \"values\"\n.asciz \"reals\"\n.asciz \"-8@%0 8f@%1 4f@%2 8@%0\"\n994: .balign 4\n.popsection"
			:: "r"(n), "m"(f64.number), "m"(f32.number) : "memory");
	}
	return 0;
}

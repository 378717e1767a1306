/* Runs functions that each have one probe, and prints what their operands were: forms_linux_test.go
   writes the functions, in assembly, and compares. Each stores its operands with an instruction of
   its own, so that it is the CPU that says what an operand means. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct form {
	void (*run)(void);
	const char *name;
	const char *heads; /* one for each operand: "-4", "8f", with a blank behind it */
};
extern const struct form forms[]; /* the last has no name */
extern uint64_t cell[4];          /* what operands in memory and in registers are to be */
extern uint64_t out[64];          /* where a function stores its operands */
extern char *edge;                /* the first byte that is not mapped */

/* The least, the greatest and their neighbours of every size, in every byte of a register that
   an operand can mean; bits that differ from byte to byte; and floating-point numbers. */
static const uint64_t patterns[] = {
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7f00, 0x8000, 0xff00, 0x7fff, 0xffff,
	0x7fffffff, 0x80000000, 0xffffffff, 0xffffffffffffff7f, 0xffffffffffffff80,
	0xffffffffffff7fff, 0xffffffffffff8000, 0xffffffff7fffffff, 0xffffffff80000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	0x0123456789abcdef, 0xfedcba9876543210, 0xa5a5a5a55a5a5a5a,
	0x3ff8000000000000, 0xc00921fb54442d18, 0x0000000000000001, 0x7fefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x8000000000000000,
	0x3fc00000, 0xc0490fdb, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x80000000,
};

static void print(const char *head, uint64_t bits)
{
	int sign = *head == '-', size = head[sign] - '0';
	float f;
	double d;

	if (head[sign + 1] == 'f') {
		memcpy(&f, &bits, 4);
		memcpy(&d, &bits, 8);
		printf(" %a", size == 4 ? f : d);
		return;
	}
	switch (sign ? -size : size) {
	case -1: printf(" %" PRId8, (int8_t)bits); break;
	case -2: printf(" %" PRId16, (int16_t)bits); break;
	case -4: printf(" %" PRId32, (int32_t)bits); break;
	case -8: printf(" %" PRId64, (int64_t)bits); break;
	case 1: printf(" %" PRIu8, (uint8_t)bits); break;
	case 2: printf(" %" PRIu16, (uint16_t)bits); break;
	case 4: printf(" %" PRIu32, (uint32_t)bits); break;
	case 8: printf(" %" PRIu64, bits); break;
	}
}

int main(void)
{
	char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		return 1;
	edge = pages + 4096;
	for (const struct form *f = forms; f->name; f++) {
		for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
			memset(out, 0, sizeof out);
			cell[0] = cell[1] = cell[2] = cell[3] = ~patterns[i];
			cell[1] = patterns[i];
			f->run();
			printf("%s", f->name);
			const char *head = f->heads;
			for (int n = 0; head && *head; n++) {
				print(head, out[n]);
				head = strchr(head, ' ');
				head += head != 0;
			}
			putchar('\n');
		}
	}
	return 0;
}

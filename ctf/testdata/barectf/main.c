/* Writes the streams of the device that config.yaml describes, through what barectf makes of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "barectf.h"

static uint64_t cycles = 123;

static uint64_t now(void *data)
{
	return cycles += 1000;
}

struct samples {
	struct barectf_samples_ctx c;
	FILE *out;
	int full; /* as it is, of a link that is too slow */
};

static int samples_full(void *data)
{
	return ((struct samples *)data)->full;
}

static void samples_open(void *data)
{
	struct samples *s = data;

	memset(barectf_packet_buf(&s->c), 0, barectf_packet_buf_size(&s->c));
	barectf_samples_open_packet(&s->c, 7);
}

static void samples_close(void *data)
{
	struct samples *s = data;

	barectf_samples_close_packet(&s->c);
	if (fwrite(barectf_packet_buf(&s->c), barectf_packet_buf_size(&s->c), 1, s->out) != 1)
		exit(1);
}

struct log {
	struct barectf_log_ctx c;
	FILE *out;
};

static int log_full(void *data)
{
	return 0;
}

static void log_open(void *data)
{
	struct log *l = data;

	memset(barectf_packet_buf(&l->c), 0, barectf_packet_buf_size(&l->c));
	barectf_log_open_packet(&l->c);
}

static void log_close(void *data)
{
	struct log *l = data;

	barectf_log_close_packet(&l->c);
	if (fwrite(barectf_packet_buf(&l->c), barectf_packet_buf_size(&l->c), 1, l->out) != 1)
		exit(1);
}

int main(void)
{
	static struct samples s;
	static struct log l;
	struct barectf_platform_callbacks of_samples = {.cycles_clock_get_value = now, .is_backend_full = samples_full, .open_packet = samples_open, .close_packet = samples_close};
	struct barectf_platform_callbacks of_log = {.cycles_clock_get_value = now, .is_backend_full = log_full, .open_packet = log_open, .close_packet = log_close};
	const char *const words[] = {"one", "", "three and more", "four"};
	int8_t small[16];
	int16_t a[2] = {-1, 1}, b[2] = {-32768, 32767};
	const int16_t *const pairs[2] = {a, b};
	int i, k;

	s.out = fopen("samples", "wb");
	l.out = fopen("log", "wb");
	if (!s.out || !l.out)
		return 1;
	barectf_init(&s.c, malloc(512), 512, of_samples, &s);
	barectf_init(&l.c, malloc(256), 256, of_log, &l);
	samples_open(&s);
	log_open(&l);
	for (i = 0; i < 60; i++) {
		char text[64];

		s.full = i % 10 == 7 || i % 10 == 8;
		if (i % 12 == 5)
			cycles += 3000000000; /* 62.5 s: the low 32 bits wrap */
		for (k = 0; k < 16; k++)
			small[k] = (int8_t)((i * 7 + k * 5) % 32 - 16);
		barectf_samples_trace_sample(&s.c, i % 31 - 15, i % 2 ? "idle" : "worker", i % 8, 15 - i % 32, 0xc0de00 + i, i * 0.25f, i / -3.0);
		barectf_samples_trace_burst(&s.c, i % 16, "b", i % 17, small, pairs, i % 5, words, ~(uint64_t)i);
		barectf_samples_trace_failure(&s.c, 0, i % 25 - 22);
		barectf_samples_trace_tick(&s.c, -16);
		snprintf(text, sizeof text, "line %d\t\"%s\"", i, words[i % 4]);
		barectf_log_trace_line(&l.c, text);
	}
	s.full = 0;
	if (barectf_packet_is_open(&s.c))
		samples_close(&s);
	if (barectf_packet_is_open(&l.c))
		log_close(&l);
	return fclose(s.out) || fclose(l.out);
}

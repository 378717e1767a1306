// A program whose threads mark (thread, sequence) and write the same, with the times before and after, into a file for
// each thread: marks DIR [COUNT...]. DIR/control directs it; control_linux_test.go describes both layouts. With a COUNT for
// each thread it ends after so many marks, without a word from anyone. "marks DIR child BORN COUNT" is a child that was executed.
#define _GNU_SOURCE
#ifdef COUNTER
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <sys/sdt.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef COUNTER
unsigned short history_mark_semaphore __attribute__((section(".probes")));
unsigned short history_done_semaphore __attribute__((section(".probes")));
#define ARMED(name) __builtin_expect(history_##name##_semaphore, 0)
#else
#define ARMED(name) 1
#endif

enum { RUNNING, PARKED, ENDED };
enum { THREADS_MAX = 64, CHILD_MARKS = 64, FAILURE = 99 };

struct control {
	uint64_t gate, over, next, pid, image, threads, burst, pause_us, forks, locked, exec, status, calm;
	uint64_t refused, by_first, by_other, armed;
};
struct mark { uint64_t begin, mid, end; };
struct file { uint64_t id, pid, tid, image, child, born, state, goroutine; struct mark marks[]; };

static volatile struct control *control;
static const char *dir;
static char **arguments;
static uint64_t marks_max = 1 << 20, counts[THREADS_MAX], limited, wrong, stops;

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void fail(const char *what) {
	perror(what);
	_exit(FAILURE);
}

static uint64_t scramble(uint64_t x) {
	x ^= x >> 30, x *= 0xbf58476d1ce4e5b9ull, x ^= x >> 27, x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct file *notes(uint64_t child, uint64_t born, uint64_t max) {
	char path[4096];
	uint64_t id = __atomic_add_fetch(&control->next, 1, __ATOMIC_SEQ_CST);
	snprintf(path, sizeof path, "%s/%lu.making", dir, id);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t size = sizeof(struct file) + max * sizeof(struct mark);
	if (fd < 0 || ftruncate(fd, size)) fail(path);
	struct file *f = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f == MAP_FAILED) fail("mmap");
	close(fd);
	f->id = id, f->pid = getpid(), f->tid = syscall(SYS_gettid), f->image = control->image, f->child = child, f->born = born;
	char to[4096];
	snprintf(to, sizeof to, "%s/%lu.marks", dir, id);
	if (rename(path, to)) fail(to);
	return f;
}

// pass returns once the gate is open. A thread that has seen it closed after it said that it runs has not marked since.
static void pass(struct file *f) {
	for (;;) {
		__atomic_store_n(&f->state, RUNNING, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&control->gate, __ATOMIC_SEQ_CST)) return;
		__atomic_store_n(&f->state, PARKED, __ATOMIC_SEQ_CST);
		usleep(500);
	}
}

// mark has values live across both sites, which a probe that harms a register spoils.
static __attribute__((noinline)) uint64_t mark(struct file *f, uint64_t seq, uint64_t sum) {
	uint64_t a = sum + seq, b = sum ^ seq, c = sum * 3, d = sum >> 7, e = seq * 5;
	double x = (double)(sum & 0xffff);
	struct mark *m = &f->marks[seq];
	uint64_t id = f->id, check = scramble(id << 40 ^ seq);
	*(volatile uint64_t *)&m->begin = now();
	if (ARMED(mark)) STAP_PROBE3(history, mark, id, seq, check);
	*(volatile uint64_t *)&m->mid = now();
	if (ARMED(done)) STAP_PROBE3(history, done, id, seq, check);
	*(volatile uint64_t *)&m->end = now();
	return scramble(a) ^ (b + c) ^ (d - e) ^ (uint64_t)(x * 2);
}

static void child(uint64_t born, uint64_t n) {
	struct file *f = notes(1, born, CHILD_MARKS);
	uint64_t sum = 0;
	for (uint64_t seq = 0; seq < n; seq++) {
		pass(f);
		sum = mark(f, seq, sum);
	}
	__atomic_store_n(&f->state, ENDED, __ATOMIC_SEQ_CST);
	_exit(n);
}

// reproduce makes a child, which marks too, and waits for it as a shell with job control does.
static void reproduce(struct file *f, uint64_t random) {
	uint64_t n = 1 + random % (CHILD_MARKS - 1), born = now();
	char number[2][32];
	snprintf(number[0], 32, "%lu", born);
	snprintf(number[1], 32, "%lu", n);
	pid_t pid = fork();
	if (pid == 0) {
		if (random >> 32 & 1) child(born, n);
		execl("/proc/self/exe", arguments[0], dir, "child", number[0], number[1], NULL);
		fail("exec");
	}
	if (pid < 0) {
		__atomic_add_fetch(&control->refused, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_store_n(&f->state, PARKED, __ATOMIC_SEQ_CST);
	int status;
	for (;;) {
		pid_t got = waitpid(pid, &status, WUNTRACED);
		if (got < 0 && errno == EINTR) continue;
		if (got == pid && WIFSTOPPED(status)) {
			__atomic_add_fetch(&stops, 1, __ATOMIC_SEQ_CST);
			continue;
		}
		if (got != pid || !WIFEXITED(status) || WEXITSTATUS(status) != n) {
			fprintf(stderr, "child %d: waitpid %d, status %#x, want exit %lu\n", pid, got, status, n);
			__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
		}
		return;
	}
}

static uint64_t sums[THREADS_MAX], done[THREADS_MAX];

static void *work(void *argument) {
	uint64_t slot = (uintptr_t)argument;
	struct file *f = notes(0, 0, limited ? counts[slot] : marks_max);
	uint64_t seq = 0, sum = 0, random = f->id, n = limited ? counts[slot] : marks_max;
	while (seq < n) {
		if (!limited) {
			pass(f);
			if (control->over) break;
			if (control->exec == slot + 1) {
				control->exec = 0;
				__atomic_add_fetch(syscall(SYS_gettid) == getpid() ? &control->by_first : &control->by_other, 1, __ATOMIC_SEQ_CST);
				execv("/proc/self/exe", arguments);
				fail("exec");
			}
			random = scramble(random + seq + 1);
			if (control->forks && random % 1000000 < control->forks) reproduce(f, scramble(random));
			if (control->burst && seq % control->burst == control->burst - 1) usleep(control->pause_us);
			pass(f);
		}
		sum = mark(f, seq, sum);
		seq++;
	}
	sums[slot] = sum, done[slot] = seq;
	__atomic_store_n(&f->state, ENDED, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(int argc, char **argv) {
	char path[4096];
	if (argc < 2) return 2;
	arguments = argv, dir = argv[1];
	alarm(600);
	snprintf(path, sizeof path, "%s/control", dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) fail(path);
	control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED) fail("mmap");
	close(fd);
	if (argc == 5 && !strcmp(argv[2], "child")) child(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	control->image++;
	control->pid = getpid();
	for (int i = 2; i < argc; i++) limited = 1, counts[i - 2] = strtoull(argv[i], NULL, 10);
	uint64_t threads = control->threads;
	pthread_t all[THREADS_MAX];
	for (uint64_t i = 1; i < threads; i++)
		if (pthread_create(&all[i], NULL, work, (void *)(uintptr_t)i)) fail("pthread_create");
	work((void *)0);
	for (uint64_t i = 1; i < threads; i++) pthread_join(all[i], NULL);
	while (!limited && control->calm) usleep(1000);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
	for (uint64_t i = 0; i < threads; i++) printf("thread %lu marked %lu, sum %016lx\n", i, done[i], sums[i]);
	printf("%lu children ended otherwise, %lu were stopped\n", wrong, stops);
	fflush(stdout);
	return control->status;
}

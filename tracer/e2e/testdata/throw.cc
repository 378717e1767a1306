// Throws, catches and throws again when it is told to, as often as its argument says.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void thrower(int i) { throw std::runtime_error(i % 2 ? "odd" : "even"); }

static void again(int i) {
    try {
        thrower(i);
    } catch (...) {
        throw;
    }
}

int main(int, char **argv) {
    for (int c; (c = getchar()) != EOF;) {
        int n = atoi(argv[1]), caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                i % 4 ? thrower(i) : again(i);
            } catch (const std::exception &) {
                caught++;
            }
        }
        printf("%d\n", caught);
        fflush(stdout);
    }
}

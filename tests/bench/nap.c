/* SPDX-License-Identifier: Apache-2.0 */

/* Sleeps COUNT times for MILLISECONDS and does nothing else, to measure the cost of waking up. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    if (argc != 3)
        return fprintf(stderr, "Usage: nap MILLISECONDS COUNT\n"), 125;
    long milliseconds = atol(argv[1]);
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long left = atol(argv[2]); left > 0; left--) {
        next.tv_nsec += milliseconds % 1000 * 1000000;
        next.tv_sec += milliseconds / 1000 + next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return 0;
}

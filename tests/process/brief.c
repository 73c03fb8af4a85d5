/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `brief MS`: starts one child after another, each in its own session. A child lives MS
 * milliseconds of real time. Prints `gone NUMBER` as soon as its pid is free again.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_SECONDS 290

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0) {
    }
}

int main(int argc, char **argv) {
    long milliseconds = argc > 1 ? atol(argv[1]) : 5;
    alarm(LIFE_SECONDS);
    for (;;) {
        pid_t child = fork();
        if (child < 0)
            return 98;
        if (child == 0) {
            alarm(LIFE_SECONDS);
            setsid();
            nap(milliseconds);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        printf("gone %d\n", (int)child);
        fflush(stdout);
    }
}

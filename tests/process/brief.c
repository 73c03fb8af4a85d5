/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `brief MS`: an instance that has one child after another, each in a session of its own and each
 * alive for this many milliseconds by the clock. As soon as a child's pid is free again, prints
 * `gone NUMBER`.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_SECONDS 100

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

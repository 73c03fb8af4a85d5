/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, delays its processes: SS_TEST_LATE=MS:NAME[:birth],... A
 * process with such a name sleeps this many milliseconds, at its start or with `birth` just after
 * it has started an instance, as on an overloaded machine.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static char own_name[32];

static void hold_up(bool birth) {
    const char *at = getenv("SS_TEST_LATE");
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        long late;
        char name[32];
        char what[8] = "";
        if (sscanf(at, "%ld:%31[^:,]:%7[^,]", &late, name, what) >= 2 &&
            strcmp(name, own_name) == 0 && birth == (strcmp(what, "birth") == 0))
            nanosleep(&(struct timespec){late / 1000, late % 1000 * 1000000}, NULL);
    }
}

PUBLIC int prctl(int option, ...) {
    unsigned long words[4];
    va_list rest;
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_SET_NAME) {
        snprintf(own_name, sizeof own_name, "%s", (const char *)words[0]);
        hold_up(false);
    }
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}

/* The first calls in a child, which the child repeats itself in time. */
PUBLIC int setpgid(pid_t pid, pid_t group) {
    if (pid != 0)
        hold_up(true);
    return (int)syscall(SYS_setpgid, pid, group);
}

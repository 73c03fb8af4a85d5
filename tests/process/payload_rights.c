/* SPDX-License-Identifier: Apache-2.0 */

/* Instances that become another user, or request real-time priority. */

#include "payload.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *wait_in_thread(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

/* `become-root [THREADS | flood]`: requires a set-user-ID program of root. */
static int do_become_root(char **words) {
    pthread_t thread;
    if (setgid(0) < 0 || setuid(0) < 0) {
        payload_say("refused");
        return 98;
    }
    if (getpgrp() != getpid())
        setsid();
    alarm(LIFE_SECONDS);
    prctl(PR_SET_NAME, "payload-root");
    for (long i = words[0] ? atol(words[0]) : 0; i > 0; i--) {
        if (pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
            return 98;
    }
    payload_say("ready");
    while (words[0] && strcmp(words[0], "flood") == 0)
        puts("until nobody reads it");
    payload_spin();
}

static void *spin_before_all(void *nothing) {
    struct sched_param parameters = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    bool allowed = sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
    payload_say(allowed ? "ready" : "refused");
    payload_spin();
    return nothing;
}

/*
 * `deaf`: the second thread occupies the only permitted CPU at real-time priority, so that the
 * first thread never runs.
 */
static int do_deaf(char **words) {
    cpu_set_t cpus;
    int cpu = 0;
    pthread_t thread;
    alarm(LIFE_SECONDS);
    sched_getaffinity(0, sizeof cpus, &cpus);
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    pthread_create(&thread, NULL, spin_before_all, NULL);
    return pause();
}

const struct payload_act payload_rights_acts[] = {
    {"become-root", .act = do_become_root},
    {"deaf", .act = do_deaf},
    {0},
};
